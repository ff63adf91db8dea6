import { Button, Menu } from '@mantine/core';
import { IconDots, IconPlayerPlay } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'react-router';

import { type FailureGroup, type FailureState, setFailureState } from '../../api/failures';
import { keys } from '../../api/query-keys';
import { useMay } from '../../api/workspace';
import { notifyFailure } from '../../components/ui/notify';
import { TimeAgo } from '../../components/ui/time';
import { formatCount } from '../../lib/format';
import { paths } from '../../lib/paths';
import classes from './failures.module.css';
import { cameAgain, kindWord, resolvedSentence, standingSentence, workflowsSentence } from './words';

interface Props {
  ws: string;
  group: FailureGroup;
  onResume: () => void;
}

/** One group: what went wrong, how often, since when, where, and who sees to it. */
export function FailureRow({ ws, group, onResume }: Props) {
  const may = useMay('run');
  const example = group.example;
  return (
    <li className={classes.row} data-state={group.state}>
      <div
        className={classes.count}
        title={`${standingSentence(group)}; ${group.recovered.count} have succeeded since`}
      >
        <strong className="num">
          {group.standing.count.toLocaleString('en')}
          {group.standing.is_exact ? '' : '+'}
        </strong>
        <span>{group.standing.count === 1 ? 'run' : 'runs'}</span>
      </div>
      <div className={classes.what}>
        <h2 className={classes.pattern}>{group.pattern || 'No message'}</h2>
        <p className={classes.facts}>
          <span className={classes.code}>{group.code}</span>
          <span>{kindWord(group.kind)}</span>
          <span>{workflowsSentence(group)}</span>
          <span>
            last <TimeAgo at={group.last_at} />, first <TimeAgo at={group.first_at} />
          </span>
          <span>{formatCount(group.seen_count, 'failure')} in all</span>
        </p>
        {example ? (
          <p className={classes.example}>
            <Link to={paths.run(ws, example.run.id, example.path || undefined)}>
              Run {example.run.number}
              {example.path ? ` at ${example.path}` : ''}
            </Link>
            <span className={classes.message}>{example.message}</span>
          </p>
        ) : null}
        <Fate group={group} ws={ws} />
      </div>
      <div className={classes.acts}>
        {may && group.standing.count > 0 ? (
          <Button leftSection={<IconPlayerPlay size={15} />} onClick={onResume}>
            Resume {group.standing.is_exact ? formatCount(group.standing.count, 'run') : 'all'}…
          </Button>
        ) : null}
        <More ws={ws} group={group} may={may} />
      </div>
    </li>
  );
}

/** Who said what about it, or what resolved it. */
function Fate({ group, ws }: { group: FailureGroup; ws: string }) {
  if (group.standing.count === 0) {
    const bulk = group.resolved_by?.bulk;
    return (
      <p className={classes.fate} data-fate="resolved">
        Resolved: {resolvedSentence(group)}
        {bulk ? (
          <>
            , in <Link to={paths.bulk(ws, bulk)}>a bulk operation</Link>
          </>
        ) : null}
        . {group.recovered.count > 0 ? `${formatCount(group.recovered.count, 'run')} succeeded since.` : ''}
      </p>
    );
  }
  if (group.state === 'open') return null;
  return (
    <p className={classes.fate} data-fate={group.state}>
      {group.state === 'handled' ? 'Handled by' : 'Ignored by'} {group.state_by}, <TimeAgo at={group.state_at} />
      {cameAgain(group) ? <strong> · failed again since</strong> : null}
      {group.note ? ` · ${group.note}` : ''}
    </p>
  );
}

const SAY: Record<FailureState, string> = {
  handled: 'I see to it',
  ignored: 'Ignore it',
  open: 'Open it again',
};

function More({ ws, group, may }: { ws: string; group: FailureGroup; may: boolean }) {
  const client = useQueryClient();
  const say = useMutation({
    mutationFn: (state: FailureState) => setFailureState(ws, group.fingerprint, { state, note: group.note }),
    onError: (error) => notifyFailure('It was not changed', error),
    onSettled: () => void client.invalidateQueries({ queryKey: keys.failures(ws) }),
  });
  const states = (['handled', 'ignored', 'open'] as const).filter((state) => state !== group.state);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          px={8}
          aria-label={`More for '${group.pattern || group.code}'`}
          loading={say.isPending}
        >
          <IconDots size={16} />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to={`${paths.runs(ws)}?fingerprint=${group.fingerprint}`}>
          Show the runs that stand failed
        </Menu.Item>
        {may
          ? states.map((state) => (
              <Menu.Item key={state} onClick={() => say.mutate(state)}>
                {SAY[state]}
              </Menu.Item>
            ))
          : null}
      </Menu.Dropdown>
    </Menu>
  );
}
