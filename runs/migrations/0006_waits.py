from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0005_flow")]
    operations = []
