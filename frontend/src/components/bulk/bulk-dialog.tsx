import { Button, Checkbox, Modal, NumberInput, TagsInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useNavigate } from 'react-router';

import { type BulkAsked, type BulkPace, beginBulk, previewBulk } from '../../api/bulk';
import { sentenceOf } from '../../api/errors';
import { listLabels } from '../../api/lists';
import { keys } from '../../api/query-keys';
import { newCommandId } from '../../api/runs';
import { useWorkspace } from '../../api/workspace';
import { formatCount } from '../../lib/format';
import { paths } from '../../lib/paths';
import { ErrorState, LoadingRows } from '../ui/states';
import classes from './bulk.module.css';
import { PreviewList } from './preview-list';
import { previewSentence, VERBS } from './words';

interface Props {
  asked: BulkAsked;
  onClose: () => void;
}

const CANARY = 3;
const RATE = 2;

/** What will happen to how many, how fast, and when it asks again; then the page of the operation. */
export function BulkDialog({ asked: given, onClose }: Props) {
  const [labels, setLabels] = useState({ add: [] as string[], remove: [] as string[] });
  const isLabel = given.operation === 'label';
  const asked = useMemo(() => (isLabel ? { ...given, labels } : given), [given, isLabel, labels]);
  const isReady = !isLabel || labels.add.length + labels.remove.length > 0;
  return (
    <Modal opened onClose={onClose} title={`${VERBS[asked.operation]} the chosen runs`} size={560}>
      <div className={classes.dialog}>
        {isLabel ? <LabelFields labels={labels} onChange={setLabels} /> : null}
        {isReady ? (
          <Previewed key={JSON.stringify(labels)} asked={asked} onClose={onClose} />
        ) : (
          <p className={classes.soft}>Name the labels, and see what happens to how many runs.</p>
        )}
      </div>
    </Modal>
  );
}

function Previewed({ asked, onClose }: Props) {
  const ws = useWorkspace();
  const preview = useQuery({
    queryKey: [...keys.bulks(ws), 'preview', asked],
    queryFn: ({ signal }) => previewBulk(ws, asked, { signal }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const begin = useBegin(ws, asked, () => void preview.refetch());
  const [canary, setCanary] = useState<number | null>(null);
  const [rate, setRate] = useState<number | null>(null);
  if (preview.isPending) return <LoadingRows rows={4} label="Looking at what would happen" />;
  if (preview.isError)
    return <ErrorState compact error={preview.error} what="what would happen" onRetry={preview.refetch} />;
  const seen = preview.data;
  const tried = seen.count - seen.skipped;
  return (
    <>
      <p className={classes.sentence}>{previewSentence(seen, asked.operation)}</p>
      {tried > 0 ? <PreviewList preview={seen} asked={asked} /> : null}
      {tried > 1 ? (
        <fieldset className={classes.pace}>
          <legend>How it goes about it</legend>
          <Pace label="Try" unit="first, then wait for me" value={canary} initial={CANARY} onChange={setCanary} />
          <Pace label="Do at most" unit="runs in a second" value={rate} initial={RATE} onChange={setRate} />
        </fieldset>
      ) : null}
      {begin.isError ? (
        <p role="alert" className={classes.refusal}>
          {sentenceOf(begin.error)}
        </p>
      ) : null}
      <div className={classes.buttons}>
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button
          data-autofocus
          disabled={tried === 0 || preview.isFetching}
          loading={begin.isPending}
          onClick={() => begin.mutate({ canary, rate_per_s: rate, expected_count: seen.count })}
        >
          {VERBS[asked.operation]} {formatCount(tried, 'run')}
        </Button>
      </div>
    </>
  );
}

/** The same request carries the same id: a click after a lost answer begins nothing twice. */
function useBegin(ws: string, asked: BulkAsked, onChanged: () => void) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const ids = useMemo(() => new Map<string, string>(), []);
  return useMutation({
    mutationFn: (pace: BulkPace) => {
      const request = JSON.stringify([asked, pace]);
      const command_id = ids.get(request) ?? newCommandId();
      ids.set(request, command_id);
      return beginBulk(ws, asked, { ...pace, command_id });
    },
    onSuccess: (bulk) => {
      void client.invalidateQueries({ queryKey: keys.bulks(ws), refetchType: 'none' });
      void navigate(paths.bulk(ws, bulk.id));
    },
    onError: onChanged,
  });
}

interface PaceProps {
  label: string;
  unit: string;
  value: number | null;
  initial: number;
  onChange: (value: number | null) => void;
}

function Pace({ label, unit, value, initial, onChange }: PaceProps) {
  return (
    <div className={classes.paceRow}>
      <Checkbox
        label={label}
        aria-label={`${label} ${initial} ${unit}`}
        checked={value !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? initial : null)}
      />
      <NumberInput
        size="xs"
        w={72}
        min={1}
        max={1000}
        allowDecimal={false}
        aria-label={`${label} … ${unit}`}
        value={value ?? initial}
        disabled={value === null}
        onChange={(next) => onChange(Math.max(1, Number(next) || 1))}
      />
      <span>{unit}</span>
    </div>
  );
}

interface LabelFieldsProps {
  labels: { add: string[]; remove: string[] };
  onChange: (labels: { add: string[]; remove: string[] }) => void;
}

function LabelFields({ labels, onChange }: LabelFieldsProps) {
  const ws = useWorkspace();
  const known = useQuery({ queryKey: keys.labels(ws), queryFn: ({ signal }) => listLabels(ws, { signal }) });
  const field = (name: 'add' | 'remove', label: string) => (
    <TagsInput
      size="xs"
      label={label}
      placeholder="a word, then Enter"
      maxTags={20}
      data={known.data?.items ?? []}
      value={labels[name]}
      onChange={(value) => onChange({ ...labels, [name]: value })}
      {...(name === 'add' ? { 'data-autofocus': true } : {})}
    />
  );
  return (
    <div className={classes.labels}>
      {field('add', 'Add')}
      {field('remove', 'Take away')}
    </div>
  );
}
