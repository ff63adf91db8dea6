from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0002_partitions_and_guards")]
    operations = []
