import { ActionIcon, Menu } from '@mantine/core';
import { modals } from '@mantine/modals';
import { IconArchive, IconArchiveOff, IconDots, IconPencil, IconPlayerPlay } from '@tabler/icons-react';
import { Link } from 'react-router';

import type { Workflow } from '../../api/types';
import { useMay, useWorkspace } from '../../api/workspace';
import { Table } from '../../components/ui/page';
import { RunStatusBadge } from '../../components/ui/run-status';
import { TimeAgo } from '../../components/ui/time';
import { paths } from '../../lib/paths';
import { draftStateOf } from './draft-state';
import classes from './library.module.css';
import { useChangeWorkflow } from './use-workflows';

interface Props {
  items: readonly Workflow[];
  onRename: (workflow: Workflow) => void;
}

export function WorkflowsTable({ items, onRename }: Props) {
  return (
    <Table
      label="Workflows"
      head={[
        'Name',
        'Version',
        'Last run',
        'Changed',
        <span key="do" className="visually-hidden">
          What to do
        </span>,
      ]}
    >
      {items.map((workflow) => (
        <Row key={workflow.id} workflow={workflow} onRename={() => onRename(workflow)} />
      ))}
    </Table>
  );
}

function Row({ workflow, onRename }: { workflow: Workflow; onRename: () => void }) {
  const ws = useWorkspace();
  const mayEdit = useMay('edit');
  const draft = draftStateOf(workflow);
  const run = workflow.last_run;
  return (
    <tr className={classes.row}>
      <td>
        <Link className={classes.name} to={paths.workflow(ws, workflow.id)}>
          {workflow.name}
        </Link>
      </td>
      <td>
        <span className={classes.version} data-live={workflow.live_version !== null} title={draft.title}>
          {draft.words}
        </span>
      </td>
      <td>
        {run ? (
          <Link className={classes.run} to={paths.run(ws, run.id)}>
            <RunStatusBadge status={run.status} />
            <span className="num">#{run.number}</span>
            <span className={classes.soft}>
              <TimeAgo at={run.started_at} />
            </span>
          </Link>
        ) : (
          <span className={classes.soft}>never ran</span>
        )}
      </td>
      <td>
        <TimeAgo at={workflow.updated_at} />
        {workflow.updated_by ? <span className={classes.soft}> by {workflow.updated_by}</span> : null}
      </td>
      <td className={classes.actions}>{mayEdit ? <RowMenu workflow={workflow} onRename={onRename} /> : null}</td>
    </tr>
  );
}

function RowMenu({ workflow, onRename }: { workflow: Workflow; onRename: () => void }) {
  const ws = useWorkspace();
  const change = useChangeWorkflow();
  const isArchived = Boolean(workflow.archived_at);
  const archive = () =>
    modals.openConfirmModal({
      title: `Archive '${workflow.name}'?`,
      children: 'It leaves this list and cannot be edited or published. Its runs stay, and it can be brought back.',
      labels: { confirm: 'Archive it', cancel: 'Keep it' },
      onConfirm: () => change.mutate({ id: workflow.id, archived: true }),
    });
  return (
    <Menu position="bottom-end" width={190}>
      <Menu.Target>
        <ActionIcon aria-label={`What to do with ${workflow.name}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          component={Link}
          to={`${paths.runs(ws)}?workflow=${workflow.id}`}
          leftSection={<IconPlayerPlay size={15} />}
        >
          See its runs
        </Menu.Item>
        {isArchived ? (
          <Menu.Item
            leftSection={<IconArchiveOff size={15} />}
            onClick={() => change.mutate({ id: workflow.id, archived: false })}
          >
            Bring it back
          </Menu.Item>
        ) : (
          <>
            <Menu.Item leftSection={<IconPencil size={15} />} onClick={onRename}>
              Rename
            </Menu.Item>
            <Menu.Item leftSection={<IconArchive size={15} />} onClick={archive}>
              Archive
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
