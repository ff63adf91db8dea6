import { Link } from 'react-router';

import type { Delivery, GraphNode, StepKind } from '../../../diagram';
import { paths } from '../../../lib/paths';
import { useHands } from '../hands';
import classes from './side-panel.module.css';

const DELIVERY: Readonly<Record<Delivery, string>> = {
  pure: 'No outside effect: it may run again freely.',
  keyed: 'Every attempt carries the same idempotency key, so the other side can tell a repeat.',
  at_most_once: 'Never restarted by itself once it may have begun: a person decides.',
};

export function StepAbout({ node, kind }: { node: GraphNode; kind: StepKind | undefined }) {
  const { ws, workflowId } = useHands();
  if (!kind) return <p className={classes.note}>Nothing is known of the kind '{node.kind}'.</p>;
  const ports = kind.ports.map((port) => port.title || port.name).join(', ');
  return (
    <div className={classes.body}>
      <p className={classes.lead}>{kind.summary}</p>
      <dl className={classes.facts}>
        <dt>Kind</dt>
        <dd>
          {kind.title} · <code>{kind.kind}</code>
        </dd>
        <dt>Effects</dt>
        <dd>{DELIVERY[node.policy.delivery ?? kind.delivery]}</dd>
        <dt>Leaves by</dt>
        <dd>{ports || 'nothing follows it'}</dd>
        <dt>Time limit</dt>
        <dd>{node.policy.limit_s ?? kind.default_limit_s} s an attempt</dd>
        <dt>Id</dt>
        <dd>
          <code>{node.id}</code>
        </dd>
        <dt>History</dt>
        <dd>
          <Link to={paths.versions(ws, workflowId, `node=${encodeURIComponent(node.id)}`)}>
            Who changed this step, and when
          </Link>
        </dd>
      </dl>
      {kind.readme ? <pre className={classes.readme}>{kind.readme}</pre> : null}
    </div>
  );
}
