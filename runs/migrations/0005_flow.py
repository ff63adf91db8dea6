from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0004_run_control")]
    operations = []
