import { useEffect, useRef } from 'react';

import { KindIcon, type StepKind } from '../../../diagram';
import { focusStep, insertStep } from '../actions';
import { useHands } from '../hands';
import { findKinds, groupKinds } from '../kinds';
import type { PickerRequest } from '../ui';
import classes from './overlays.module.css';
import { type Choice, SearchList } from './search-list';

const WIDTH = 288;
const HEIGHT = 400;

/** Kinds that can stand there: a step that follows another one needs an input. */
function fitting(kinds: readonly StepKind[], request: PickerRequest): StepKind[] {
  const follows = Boolean(request.edge || request.from || request.into);
  return kinds
    .filter((kind) => (follows ? kind.has_input : true))
    .filter((kind) => !request.edge || kind.ports.length > 0);
}

const toChoice = (kind: StepKind, group?: string): Choice => ({
  id: kind.kind,
  title: kind.title,
  detail: kind.summary,
  icon: <KindIcon name={kind.icon} size={17} />,
  ...(group ? { group } : {}),
});

const titleOf = (request: PickerRequest): string => {
  if (request.replace) return 'Replace by';
  if (request.edge) return 'Insert a step';
  return request.from ? 'Add the next step' : 'Add a step';
};

/** Asks which step, where the hand is. */
export function StepPicker({ request }: { request: PickerRequest }) {
  const hands = useHands();
  const box = useRef<HTMLDivElement>(null);
  const all = fitting([...hands.kinds.values()], request);
  const close = (focus?: string | null) => {
    hands.ui.getState().set({ picker: null });
    const id = focus ?? request.from?.node ?? request.replace;
    if (id) focusStep(id);
  };
  useEffect(() => {
    const onDown = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Element)) hands.ui.getState().set({ picker: null });
    };
    window.addEventListener('pointerdown', onDown, true);
    return () => window.removeEventListener('pointerdown', onDown, true);
  }, [hands]);
  const choicesFor = (query: string): Choice[] =>
    query.trim() === ''
      ? groupKinds(all).flatMap(([group, kinds]) => kinds.map((kind) => toChoice(kind, group)))
      : findKinds(all, query).map((kind) => toChoice(kind));
  const left = Math.max(8, Math.min(request.at.x, window.innerWidth - WIDTH - 8));
  const top = Math.max(8, Math.min(request.at.y, window.innerHeight - HEIGHT - 8));
  return (
    <div
      ref={box}
      role="dialog"
      aria-label={titleOf(request)}
      className={classes.picker}
      style={{ left, top, width: WIDTH }}
    >
      <SearchList
        label={titleOf(request)}
        placeholder={`${titleOf(request)}…`}
        empty="No step does that. Try another word."
        choicesFor={choicesFor}
        onChoose={(kind) => close(insertStep(hands, kind, request))}
        onClose={() => close()}
      />
    </div>
  );
}
