from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0004_run_control")]
    operations = [
        migrations.AddField(
            model_name="steprun", name="item_tolerated", field=models.IntegerField(db_default=0, default=0)
        ),
        migrations.AddField(
            model_name="steprun",
            name="item_mode",
            field=models.CharField(db_default="each", default="each", max_length=8),
        ),
        migrations.AddField(
            model_name="steprun",
            name="item_gather",
            field=models.CharField(db_default="list", default="list", max_length=8),
        ),
    ]
