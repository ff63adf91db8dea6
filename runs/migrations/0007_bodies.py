from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0006_waits")]
    operations = []
