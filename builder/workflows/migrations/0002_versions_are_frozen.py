"""A published version never changes. The one exception is the link to its publisher, which empties when that user is
deleted. `pawl.maintenance` (set for one transaction by retention) lets rows be removed; no setting lets one be changed."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION version_is_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.published_by_id IS NULL
           AND (to_jsonb(NEW) - 'published_by_id') = (to_jsonb(OLD) - 'published_by_id') THEN
            RETURN NEW;
        END IF;
    ELSIF current_setting('pawl.maintenance', true) = 'on' THEN
        RETURN CASE WHEN TG_LEVEL = 'ROW' THEN OLD ELSE NULL END;
    END IF;
    RAISE EXCEPTION 'a published version never changes: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER version_rows_are_frozen BEFORE UPDATE OR DELETE ON workflows_version
    FOR EACH ROW EXECUTE FUNCTION version_is_frozen();
CREATE TRIGGER version_table_is_frozen BEFORE TRUNCATE ON workflows_version
    FOR EACH STATEMENT EXECUTE FUNCTION version_is_frozen();
"""

BACKWARD = """
DROP TRIGGER version_table_is_frozen ON workflows_version;
DROP TRIGGER version_rows_are_frozen ON workflows_version;
DROP FUNCTION version_is_frozen();
"""


class Migration(migrations.Migration):
    dependencies = [("workflows", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
