import { ActionIcon, Select, Switch, TextInput, Tooltip } from '@mantine/core';
import { IconClock, IconDownload, IconSearch, IconTextWrap } from '@tabler/icons-react';
import { memo, type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';

import { sentenceOf } from '../../../api/errors';
import { CopyButton } from '../../../components/ui/copy-button';
import { useShortcuts } from '../../../components/ui/shortcuts';
import { formatClock, formatExact } from '../../../lib/format';
import { filterLines, LEVELS, type Level, type LogLine, linesOf, partsOf } from '../log-lines';
import { useLiveRunState } from '../store';
import { useLogs } from '../use-step';
import classes from './log-view.module.css';

/** So many lines are drawn, the last ones; all of them can be searched, copied and downloaded. */
const MOST_LINES = 4000;

const LEVEL_NAMES: Readonly<Record<Level, string>> = {
  debug: 'Debug and more',
  info: 'Info and more',
  warning: 'Warnings and errors',
  error: 'Errors',
};

function saveAs(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** The log of one attempt, as it is written. It follows the end while it grows, unless one scrolls up. */
export function LogView({ path, attempt }: { path: string; attempt: number }) {
  const { text, times, isComplete, error } = useLogs(path, attempt);
  const [search, setSearch] = useState('');
  const [level, setLevel] = useState<Level | null>(null);
  const look = useLook(`run-${useLiveRunState((state) => state.run.number)}-${path}-${attempt}.log`, text);
  const wanted = useDeferredValue(search.trim());
  const lines = useMemo(() => linesOf(text, times), [text, times]);
  const found = useMemo(() => filterLines(lines, { text: wanted, level }), [lines, wanted, level]);
  if (text === '' && isComplete) return <p className={classes.empty}>Attempt {attempt} wrote nothing to its log.</p>;
  return (
    <div>
      <div className={classes.bar}>
        <TextInput
          ref={look.field}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
          placeholder="Lines that contain (/)"
          aria-label="Filter the log"
          leftSection={<IconSearch size={13} />}
          className={classes.search}
        />
        <Select
          data={LEVELS.map((value) => ({ value, label: LEVEL_NAMES[value] }))}
          value={level}
          onChange={(value) => setLevel(LEVELS.find((one) => one === value) ?? null)}
          placeholder="All levels"
          aria-label="Level"
          clearable
          w={150}
        />
        <div className={classes.tools}>
          {look.tools}
          <CopyButton text={text} label="Copy the log" />
        </div>
      </div>
      <Lines {...{ lines: found, wanted, isComplete }} wraps={look.wraps} hasTimes={look.hasTimes} />
      <p className={classes.count} aria-live="polite">
        {found.length === lines.length ? `${lines.length} lines` : `${found.length} of ${lines.length} lines`}
        {found.length > MOST_LINES ? `; the last ${MOST_LINES} are drawn` : ''}
        {isComplete ? '' : '; it is still being written'}
      </p>
      {error ? <p className={classes.empty}>The log could not be read: {sentenceOf(error)}</p> : null}
    </div>
  );
}

/** Wrapping, times and the file, each by a button and by its key. */
function useLook(name: string, text: string) {
  const [wraps, setWraps] = useState(true);
  const [hasTimes, setHasTimes] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const wrap = () => setWraps((before) => !before);
  const time = () => setHasTimes((before) => !before);
  const save = () => saveAs(name, text);
  useShortcuts('Log', [
    { key: '/', label: 'Search the log', act: () => field.current?.focus() },
    { key: 'w', label: 'Wrap its lines', act: wrap },
    { key: 't', label: 'Times of its lines', act: time },
    { key: 'd', label: 'Download it', act: save },
  ]);
  const tools = (
    <>
      <Tool label="Wrap lines" hint="W" isOn={wraps} act={wrap} icon={<IconTextWrap size={15} />} />
      <Tool label="Times" hint="T" isOn={hasTimes} act={time} icon={<IconClock size={15} />} />
      <Tool label="Download the log" hint="D" act={save} icon={<IconDownload size={15} />} />
    </>
  );
  return { wraps, hasTimes, field, tools };
}

interface ToolProps {
  label: string;
  hint: string;
  isOn?: boolean;
  act: () => void;
  icon: ReactNode;
}

function Tool({ label, hint, isOn, act, icon }: ToolProps) {
  return (
    <Tooltip label={`${label} (${hint})`}>
      <ActionIcon aria-label={label} aria-pressed={isOn} data-on={isOn} className={classes.tool} onClick={act}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

interface LinesProps {
  lines: readonly LogLine[];
  wanted: string;
  isComplete: boolean;
  wraps: boolean;
  hasTimes: boolean;
}

function Lines({ lines, wanted, isComplete, wraps, hasTimes }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const shown = lines.slice(-MOST_LINES);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it scrolls because the text grew
  useEffect(() => {
    if (follows && !isComplete && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, follows]);
  const onScroll = () => {
    const at = box.current;
    if (at && !isComplete) setFollows(at.scrollHeight - at.scrollTop - at.clientHeight < 24);
  };
  return (
    <>
      {isComplete ? null : (
        <Switch
          label="Follow its end"
          size="xs"
          mb={6}
          checked={follows}
          onChange={(event) => setFollows(event.currentTarget.checked)}
        />
      )}
      <section
        ref={box}
        className={classes.log}
        data-wraps={wraps || undefined}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Log"
      >
        {shown.length === 0 ? <span>{wanted === '' ? 'Nothing yet.' : 'No line contains that.'}</span> : null}
        {shown.map((line) => (
          <Line key={line.number} {...{ line, wanted, hasTimes }} />
        ))}
      </section>
    </>
  );
}

const Line = memo(function Line({ line, wanted, hasTimes }: { line: LogLine; wanted: string; hasTimes: boolean }) {
  return (
    <div className={classes.line} data-level={line.level}>
      {hasTimes ? (
        <time className={classes.time} title={formatExact(line.at)}>
          {formatClock(line.at)}
        </time>
      ) : null}
      <span>
        {partsOf(line.text, wanted).map((part, at) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line have no other name than their place
          at % 2 === 1 ? <mark key={at}>{part}</mark> : part,
        )}
      </span>
    </div>
  );
});
