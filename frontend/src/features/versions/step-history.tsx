import { ErrorState, LoadingRows } from '../../components/ui/states';
import { TimeAgo } from '../../components/ui/time';
import type { StepState } from './api';
import { Fields, HowTag } from './changes';
import { type FieldChange, fieldsOf, type How } from './difference';
import { useHistory } from './use-versions';
import classes from './versions.module.css';
import { changeInWords } from './words';

/** What became of the step in a row of its history, next to the row before it in time. */
export function changeOf(state: StepState, before: StepState | undefined): { how: How; fields: FieldChange[] } {
  if (!state.node) return { how: 'removed', fields: [] };
  const was = before?.node ?? null;
  return { how: was ? 'changed' : 'added', fields: was ? fieldsOf(was, state.node) : [] };
}

/** Who changed this step, and when. */
export function StepHistory({ workflow, node }: { workflow: string; node: string }) {
  const history = useHistory(workflow, node);
  if (history.isPending) return <LoadingRows rows={3} label="Loading the history" />;
  if (history.isError) return <ErrorState compact error={history.error} what="the history" onRetry={history.refetch} />;
  const { items, since } = history.data;
  if (items.length === 0) return <p className={classes.soft}>No version has had this step.</p>;
  const oldest = items.at(-1);
  return (
    <>
      <ol className={classes.history} aria-label="History of the step">
        {items.map((state, at) => (
          <Row key={state.number ?? 'draft'} state={state} {...changeOf(state, items[at + 1])} />
        ))}
      </ol>
      {since !== null && since > 1 && oldest?.number === since ? (
        <p className={classes.soft}>Versions before {since} were not looked at.</p>
      ) : null}
    </>
  );
}

function Row({ state, how, fields }: { state: StepState; how: How; fields: FieldChange[] }) {
  const who = state.by ?? 'Somebody';
  return (
    <li className={classes.moment}>
      <div className={classes.momentHead}>
        <span>
          <strong>{state.number === null ? 'Draft' : `Version ${state.number}`}</strong> · {who} ·{' '}
          <TimeAgo at={state.at} />
        </span>
        <HowTag how={how} />
      </div>
      {how === 'changed' ? (
        <details className={classes.details}>
          <summary>{changeInWords(how, fields)}</summary>
          <Fields fields={fields} />
        </details>
      ) : (
        <div className={classes.soft}>{changeInWords(how, fields)}</div>
      )}
      {state.note ? <div className={classes.note}>“{state.note}”</div> : null}
    </li>
  );
}
