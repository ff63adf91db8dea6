from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0003_recovery")]
    operations = []
