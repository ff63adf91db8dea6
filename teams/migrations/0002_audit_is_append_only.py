"""The audit trail can only grow. `pawl.maintenance` (set for one transaction by retention, never by the application's
own code) lets rows be removed; no setting lets one be changed."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'UPDATE' AND current_setting('pawl.maintenance', true) = 'on' THEN
        RETURN CASE WHEN TG_LEVEL = 'ROW' THEN OLD ELSE NULL END;
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
