import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useMemo, useState } from 'react';

import { KindIcon, type StepKind } from '../../../diagram';
import { insertStep, middleOfView } from '../actions';
import { useCanvas, useHands } from '../hands';
import { findKinds, groupKinds } from '../kinds';
import { fitsIntoEdge } from '../model/splice';
import { KIND_TYPE, LOOSE_TYPE } from '../use-dropping';
import classes from './palette.module.css';

/** The step library: drag a step onto the canvas or an edge, or press it to add it in the middle of the view. */
export function Palette() {
  const { kinds } = useHands();
  const [query, setQuery] = useState('');
  const groups = useMemo(() => groupKinds(findKinds([...kinds.values()], query)), [kinds, query]);
  return (
    <aside className={classes.palette} aria-label="Step library">
      <TextInput
        aria-label="Search the step library"
        placeholder="Search steps"
        leftSection={<IconSearch size={14} />}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
      />
      <div className={classes.list}>
        {groups.map(([group, found]) => (
          <section key={group} aria-label={group}>
            <h3 className={classes.group}>{group}</h3>
            {found.map((kind) => (
              <Item key={kind.kind} kind={kind} />
            ))}
          </section>
        ))}
        {groups.length === 0 ? <p className={classes.none}>No step does '{query}'. Try another word.</p> : null}
      </div>
    </aside>
  );
}

function Item({ kind }: { kind: StepKind }) {
  const hands = useHands();
  const canEdit = useCanvas((state) => state.canEdit);
  return (
    <button
      type="button"
      className={classes.item}
      title={kind.summary}
      disabled={!canEdit}
      draggable={canEdit}
      onDragStart={(event) => {
        event.dataTransfer.setData(KIND_TYPE, kind.kind);
        if (!fitsIntoEdge(kind.kind, hands.kinds)) event.dataTransfer.setData(LOOSE_TYPE, '');
        event.dataTransfer.effectAllowed = 'copy';
      }}
      onClick={() => insertStep(hands, kind.kind, { at: middleOfView() })}
    >
      <KindIcon name={kind.icon} size={17} />
      <span>
        <span className={classes.title}>{kind.title}</span>
        <span className={classes.summary}>{kind.summary}</span>
      </span>
    </button>
  );
}
