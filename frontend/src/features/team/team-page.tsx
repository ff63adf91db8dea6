import { IconUsers } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';

import { keys } from '../../api/query-keys';
import { usePlace, useWorkspace } from '../../api/workspace';
import { listMembers } from '../../api/workspace-calls';
import { Card, Page, Table } from '../../components/ui/page';
import { EmptyState, ErrorState, LoadingRows } from '../../components/ui/states';
import classes from './team.module.css';

const ROLES: { [role: string]: string } = {
  owner: 'Everything, also renaming and deleting the workspace',
  admin: 'Edits, keeps connections, manages members, reads the audit trail',
  editor: 'Draws and publishes workflows, runs them',
  operator: 'Runs, resumes, cancels and approves',
  viewer: 'Looks, and changes nothing',
};

/** /w/:ws/team */
export function TeamPage() {
  const ws = useWorkspace();
  const { session, workspace } = usePlace();
  const members = useQuery({ queryKey: keys.members(ws), queryFn: ({ signal }) => listMembers(ws, { signal }) });
  return (
    <Page title="Team" hint={`Who belongs to ${workspace.name}, and what they may do.`}>
      <Card>
        {members.isPending ? <LoadingRows label="Loading the members" /> : null}
        {members.isError ? <ErrorState error={members.error} what="the members" onRetry={members.refetch} /> : null}
        {members.data?.items.length === 0 ? (
          <EmptyState icon={<IconUsers size={22} />} title="Nobody is here yet" />
        ) : null}
        {members.data && members.data.items.length > 0 ? (
          <Table label="Members" head={['Name', 'E-mail', 'Role', 'May']}>
            {members.data.items.map((member) => (
              <tr key={member.email}>
                <td>
                  <strong>{member.name || member.email.split('@')[0]}</strong>
                  {member.email === session.user.email ? <span className={classes.you}>you</span> : null}
                </td>
                <td>{member.email}</td>
                <td>
                  <span className={classes.role}>{member.role}</span>
                </td>
                <td className={classes.may}>{ROLES[member.role] ?? ''}</td>
              </tr>
            ))}
          </Table>
        ) : null}
      </Card>
    </Page>
  );
}
