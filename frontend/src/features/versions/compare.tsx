import { ActionIcon, Select } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useMemo } from 'react';

import { ErrorState, LoadingRows } from '../../components/ui/states';
import { type GraphDocument, GraphView, type KindsByName, layOut, needsLayout } from '../../diagram';
import { Changes, Fields } from './changes';
import { countsOf, type Difference, differenceOf, marksOf, unionOf } from './difference';
import { nameOf, type Side } from './selection';
import { StepHistory } from './step-history';
import { useGraph } from './use-versions';
import classes from './versions.module.css';
import { SIGNS } from './words';

interface Props {
  workflow: string;
  kinds: KindsByName;
  show: Side;
  against: Side | null;
  node: string | null;
  sides: readonly Side[];
  onAgainst: (side: Side) => void;
  onNode: (node: string | null) => void;
  restore: React.ReactNode;
}

/** Two versions in one drawing, and what differs in words beside it. */
export function Compare({ workflow, kinds, show, against, node, sides, onAgainst, onNode, restore }: Props) {
  const now = useGraph(workflow, show);
  const before = useGraph(workflow, against);
  const found = useCompared(before.graph, now.graph, kinds);
  for (const side of [now, before]) {
    if (side.error) return <ErrorState error={side.error} what="this version" onRetry={side.refetch} />;
  }
  if (!found) return <LoadingRows label="Loading the versions" />;
  return (
    <>
      <div className={classes.main}>
        <div className={classes.head}>
          <h2 className={classes.heading}>{show === 'draft' ? 'Draft' : `Version ${show}`}</h2>
          <span className={classes.soft}>against</span>
          <Against show={show} against={against} sides={sides} onAgainst={onAgainst} />
          <Counts difference={found.difference} />
          <span className={classes.space} />
          {restore}
        </div>
        <div className={classes.canvas}>
          <GraphView
            graph={found.union}
            kinds={kinds}
            marks={found.marks}
            selectedId={node}
            onSelect={onNode}
            centreOnSelect
            label={`${nameOf(show)} against ${nameOf(against)}`}
          />
        </div>
      </div>
      <aside className={classes.panel} aria-label="What differs">
        {node ? (
          <OneStep workflow={workflow} node={node} found={found} onClose={() => onNode(null)} />
        ) : (
          <Changes difference={found.difference} kinds={kinds} names={found.names} onSelect={onNode} />
        )}
      </aside>
    </>
  );
}

interface Compared {
  difference: Difference;
  union: GraphDocument;
  marks: ReadonlyMap<string, 'added' | 'removed' | 'changed'>;
  names: ReadonlyMap<string, string>;
}

function useCompared(before?: GraphDocument, after?: GraphDocument, kinds?: KindsByName): Compared | null {
  return useMemo(() => {
    if (!before || !after || !kinds) return null;
    const [old, now] = [before, after].map((graph) => (needsLayout(graph) ? layOut(graph, kinds) : graph));
    if (!old || !now) return null;
    const difference = differenceOf(old, now);
    const union = unionOf(old, now);
    const names = new Map(union.nodes.map((node) => [node.id, node.name || node.key]));
    return { difference, union, names, marks: marksOf(difference, union) };
  }, [before, after, kinds]);
}

function Against({ show, against, sides, onAgainst }: Pick<Props, 'show' | 'against' | 'sides' | 'onAgainst'>) {
  const choices = sides.filter((side) => side !== show);
  if (choices.length === 0) return <span>nothing</span>;
  return (
    <Select
      size="xs"
      w={130}
      aria-label="Compare with"
      placeholder="nothing"
      data={choices.map((side) => ({ value: String(side), label: side === 'draft' ? 'Draft' : `Version ${side}` }))}
      value={against === null ? null : String(against)}
      allowDeselect={false}
      onChange={(side) => side && onAgainst(side === 'draft' ? 'draft' : Number(side))}
    />
  );
}

function Counts({ difference }: { difference: Difference }) {
  const counts = countsOf(difference);
  const steps = (['added', 'removed', 'changed'] as const).filter((how) => counts[how] > 0);
  return (
    <span className={classes.counts}>
      {steps.map((how) => (
        <span key={how} className={classes.how} data-how={how}>
          {SIGNS[how]} {counts[how]} {how}
        </span>
      ))}
      {counts.edges > 0 ? <span className={classes.soft}>{counts.edges} edges differ</span> : null}
      {steps.length + counts.edges === 0 ? <span className={classes.soft}>Nothing differs</span> : null}
    </span>
  );
}

function OneStep({
  workflow,
  node,
  found,
  onClose,
}: {
  workflow: string;
  node: string;
  found: Compared;
  onClose: () => void;
}) {
  const change = found.difference.steps.find((one) => one.node.id === node);
  return (
    <>
      <div className={classes.panelHead}>
        <h3>{found.names.get(node) ?? 'A step that is in neither'}</h3>
        <ActionIcon size={26} aria-label="Show all differences" onClick={onClose}>
          <IconX size={15} />
        </ActionIcon>
      </div>
      {change ? <Fields fields={change.fields} /> : <p className={classes.soft}>The same in both.</p>}
      <h4 className={classes.sub}>Who changed it, and when</h4>
      <StepHistory workflow={workflow} node={node} />
    </>
  );
}
