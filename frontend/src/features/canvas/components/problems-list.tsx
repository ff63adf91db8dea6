import { CloseButton } from '@mantine/core';
import { IconAlertCircle, IconAlertTriangle, IconBulb, IconCircleCheck } from '@tabler/icons-react';

import { showStep } from '../actions';
import type { Problem } from '../api';
import { type Hands, useCanvas, useHands } from '../hands';
import { edgeOf, nodeOf } from '../model/walk';
import { inAll, inOrder } from '../problems';
import classes from './editor.module.css';
import { FixButton } from './fix-button';
import rows from './problems.module.css';

/** Goes to where a problem is: the step is centred, and its field gets the keyboard. */
export function showProblem(hands: Hands, problem: Problem): void {
  const { document: graph } = hands.store.getState();
  const edge = problem.edge ? edgeOf(graph, problem.edge) : undefined;
  const id = problem.node ?? edge?.source;
  if (!id || !nodeOf(graph, id)) return;
  showStep(hands, id, { focus: !problem.field });
  if (edge) hands.store.getState().select([edge.id]);
  hands.ui.getState().set({ tab: problem.field?.includes('policy') ? 'behaviour' : 'settings' });
  const field = problem.field?.replace(/^.*\bconfig[.[]?/, '').split(/[.[\]]/, 1)[0];
  if (!field) return;
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>(`[data-panel] [data-field="${CSS.escape(field)}"]`);
    row?.scrollIntoView({ block: 'center' });
    row?.querySelector<HTMLElement>('input, .cm-content, textarea')?.focus();
  });
}

export function ProblemsList() {
  const { ui } = useHands();
  const problems = useCanvas((state) => state.problems);
  return (
    <section className={classes.problems} aria-label="Problems">
      <div className={classes.problemsHead}>
        <span>{problems.length === 0 ? 'No problems' : inAll(problems)}</span>
        <CloseButton
          size="sm"
          aria-label="Close the problems"
          onClick={() => ui.getState().set({ showsProblems: false })}
        />
      </div>
      {problems.length === 0 ? (
        <p className={classes.allWell}>
          <IconCircleCheck size={15} color="var(--status-succeeded)" /> Nothing stands against publishing.
        </p>
      ) : (
        <ProblemRows problems={problems} />
      )}
    </section>
  );
}

const ICONS = { error: IconAlertCircle, warning: IconAlertTriangle, hint: IconBulb } as const;

/** Errors first; each row leads to its step, and has its fix beside it. */
export function ProblemRows({ problems, onGo }: { problems: readonly Problem[]; onGo?: () => void }) {
  const hands = useHands();
  const graph = useCanvas((state) => state.document);
  const whereOf = (problem: Problem): string => {
    const node = nodeOf(graph, problem.node ?? edgeOf(graph, problem.edge ?? '')?.source ?? '');
    return node ? node.name || node.key : 'Workflow';
  };
  return inOrder(problems).map((problem, at) => {
    const Icon = ICONS[problem.severity];
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: two problems of one step may read the same
      <div key={`${at}-${problem.code}`} className={rows.row}>
        <button
          type="button"
          className={rows.problem}
          data-severity={problem.severity}
          disabled={!problem.node && !problem.edge}
          onClick={() => {
            onGo?.();
            showProblem(hands, problem);
          }}
        >
          <Icon size={15} aria-label={problem.severity} />
          <span className={classes.where}>{whereOf(problem)}</span>
          <span>{problem.message}</span>
        </button>
        <FixButton problem={problem} />
      </div>
    );
  });
}
