import { NumberInput, Switch, TagsInput, Text } from '@mantine/core';
import { useMemo } from 'react';

import type { GraphNode, Policy, StepKind } from '../../../diagram';
import type { Json } from '../../../lib/json';
import { NO_SCOPE, scopeOf } from '../form/completion';
import { FieldRow } from '../form/field-row';
import formClasses from '../form/form.module.css';
import { fieldsOf } from '../form/schema';
import { useCanvas, useHands } from '../hands';
import { setPolicy } from '../model/document';
import { POLICY_SCHEMA, retryInWords, tidyPolicy } from '../model/policy';
import { problemsOfNode } from '../problems';
import classes from './side-panel.module.css';

const FIELDS = fieldsOf(POLICY_SCHEMA);
const fieldNamed = (name: string) => FIELDS.find((field) => field.name === name);

interface Props {
  node: GraphNode;
  kind: StepKind | undefined;
}

/** What the engine does with the step besides its work: try again, give up, go on without it. */
export function PolicyForm({ node, kind }: Props) {
  const { store, kinds } = useHands();
  const readOnly = !useCanvas((state) => state.canEdit);
  const problems = useCanvas((state) => problemsOfNode(state.problems, node.id));
  const ways = useCanvas((state) => state.document.edges.filter((edge) => edge.target === node.id).length);
  const graph = useCanvas((state) => state.document);
  const scope = useMemo(() => scopeOf(graph, node.id, kinds), [graph, node.id, kinds]);
  const { policy } = node;
  const change = (patch: Partial<Policy>, topic: string) =>
    store
      .getState()
      .apply('Change its behaviour', (document) => setPolicy(document, node.id, tidyPolicy({ ...policy, ...patch })), {
        policy: { kind: 'typing', topic: `${node.id}.policy.${topic}` },
      });
  const row = (name: keyof Policy) => {
    const field = fieldNamed(name);
    if (!field) return null;
    return (
      <FieldRow
        field={name === 'limit_s' ? { ...field, default: kind?.default_limit_s } : field}
        value={policy[name] as Json | undefined}
        problems={problems.filter((problem) => problem.field?.includes(`policy.${name}`))}
        scope={name === 'skip_if' ? scope : NO_SCOPE}
        readOnly={readOnly}
        onChange={(value) => change({ [name]: value }, name)}
      />
    );
  };
  return (
    <div className={classes.body}>
      <div className={formClasses.form}>
        <RetryFields policy={policy} readOnly={readOnly} onChange={(retry) => change({ retry }, 'retry')} />
        {kind?.has_input === false ? null : row('skip_if')}
        {row('limit_s')}
        {row('idle_limit_s')}
        {row('queue_limit_s')}
        {row('total_limit_s')}
        {row('on_error')}
        {policy.on_error === 'fallback' ? row('fallback') : null}
        {kind?.has_input === false ? null : row('on_upstream_failure')}
        {policy.on_upstream_failure === 'default' ? row('default') : null}
        {ways > 1 || policy.join ? row('join') : null}
        {policy.join === 'count' ? row('join_count') : null}
        <Delivery
          policy={policy}
          kind={kind}
          readOnly={readOnly}
          onChange={(delivery) => change({ delivery }, 'delivery')}
        />
        {kind?.execution === 'body' || kind?.execution === 'compute' || policy.reuse ? row('reuse') : null}
        {policy.reuse ? row('reuse_for_s') : null}
        {policy.reuse && (kind?.delivery !== 'pure' || policy.delivery || policy.reuse_effects)
          ? row('reuse_effects')
          : null}
        {row('queue')}
        {row('limit_key')}
        {policy.limit_key ? (
          <>
            {row('limit_at_most')}
            {row('rate_starts')}
            {row('rate_per_s')}
          </>
        ) : null}
      </div>
    </div>
  );
}

interface PartProps<T> {
  policy: Policy;
  readOnly: boolean;
  onChange: (value: T) => void;
}

type Retry = NonNullable<Policy['retry']>;

const MOST: Partial<Record<keyof Retry, number>> = { attempts: 100, factor: 100, jitter: 1 };

function RetryFields({ policy, readOnly, onChange }: PartProps<Policy['retry']>) {
  const retry = policy.retry ?? {};
  const words = useMemo(() => retryInWords(policy.retry), [policy.retry]);
  const number = (name: Exclude<keyof Retry, 'on'>, label: string, otherwise: number, min: number) => (
    <NumberInput
      label={label}
      labelProps={{ className: classes.small }}
      value={retry[name] ?? otherwise}
      min={min}
      max={MOST[name] ?? 86_400}
      step={name === 'jitter' ? 0.1 : 1}
      readOnly={readOnly}
      onChange={(value) => onChange({ ...retry, [name]: value === '' ? undefined : Number(value) })}
    />
  );
  return (
    <fieldset className={classes.plain}>
      <legend className={classes.label}>Retry</legend>
      <div className={classes.grid}>
        {number('attempts', 'Attempts in all', 1, 1)}
        {(retry.attempts ?? 1) > 1 ? (
          <>
            {number('first_delay_s', 'First pause, s', 1, 0)}
            {number('factor', 'Then times', 2, 1)}
            {number('max_delay_s', 'At most, s', 300, 0)}
            {number('jitter', 'Part left to chance', 0.5, 0)}
          </>
        ) : null}
      </div>
      {(retry.attempts ?? 1) > 1 ? (
        <TagsInput
          label="After these errors only"
          labelProps={{ className: classes.small }}
          description="Codes, such as http_503; * for any. Empty: failures that may pass."
          value={retry.on ?? []}
          readOnly={readOnly}
          onChange={(on) => onChange({ ...retry, on: on.length > 0 ? on : undefined })}
        />
      ) : null}
      <Text size="xs" c="dimmed" mt={4}>
        {words}
      </Text>
    </fieldset>
  );
}

function Delivery({
  policy,
  kind,
  readOnly,
  onChange,
}: PartProps<Policy['delivery']> & { kind: StepKind | undefined }) {
  if (kind?.delivery === 'at_most_once') {
    return (
      <p className={classes.note}>This kind is at most once: it is never restarted by itself once it may have begun.</p>
    );
  }
  return (
    <Switch
      label="At most once"
      description="Never restart it by itself once it may have begun; a person decides."
      checked={policy.delivery === 'at_most_once'}
      disabled={readOnly}
      onChange={(event) => onChange(event.currentTarget.checked ? 'at_most_once' : undefined)}
    />
  );
}
