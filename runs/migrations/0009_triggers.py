from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("runs", "0008_limits")]
    operations = []
