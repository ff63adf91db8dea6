"""A published version never changes. The one exception is the link to its publisher, which empties when that user is
deleted. The setting `pawl.maintenance` lets rows be removed: 'delete' (for one transaction of retention) or 'truncate' (the
tests, which empty tables between them). No setting lets a row be changed."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION version_is_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF NEW.published_by_id IS NULL
           AND (to_jsonb(NEW) - 'published_by_id') = (to_jsonb(OLD) - 'published_by_id') THEN
            RETURN NEW;
        END IF;
    ELSIF TG_OP = 'DELETE' AND current_setting('pawl.maintenance', true) = 'delete' THEN
        RETURN OLD;
    ELSIF TG_OP = 'TRUNCATE' AND current_setting('pawl.maintenance', true) = 'truncate' THEN
        RETURN NULL;
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
