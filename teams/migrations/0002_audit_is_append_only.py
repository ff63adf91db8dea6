"""The audit trail can only grow. The setting `pawl.maintenance` lets rows be removed: 'delete' (for one transaction of
retention) or 'truncate' (the tests, which empty tables between them). No setting lets a row be changed."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('pawl.maintenance', true) = 'delete' THEN
        RETURN OLD;
    ELSIF TG_OP = 'TRUNCATE' AND current_setting('pawl.maintenance', true) = 'truncate' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the audit trail is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER audit_rows_stay BEFORE UPDATE OR DELETE ON teams_auditrecord
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_table_stays BEFORE TRUNCATE ON teams_auditrecord
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
"""

BACKWARD = """
DROP TRIGGER audit_table_stays ON teams_auditrecord;
DROP TRIGGER audit_rows_stay ON teams_auditrecord;
DROP FUNCTION audit_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("teams", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
