import { Switch, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';

import { sentenceOf } from '../../../api/errors';
import { CopyButton } from '../../../components/ui/copy-button';
import { useLogs } from '../use-step';
import classes from './step-panel.module.css';

/** So much is drawn; the rest can be copied. */
const MOST_CHARACTERS = 400_000;

/** The log of one attempt. It follows the end while it grows, unless one scrolls up. */
export function LogView({ path, attempt }: { path: string; attempt: number }) {
  const { text, isComplete, error } = useLogs(path, attempt);
  const [search, setSearch] = useState('');
  const [follows, setFollows] = useState(true);
  const box = useRef<HTMLPreElement>(null);
  const wanted = useDeferredValue(search.trim().toLowerCase());
  const shown = useMemo(() => {
    const tail = text.slice(-MOST_CHARACTERS);
    return wanted
      ? tail
          .split('\n')
          .filter((line) => line.toLowerCase().includes(wanted))
          .join('\n')
      : tail;
  }, [text, wanted]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it scrolls because the text grew
  useEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [shown, follows]);
  const onScroll = () => {
    const at = box.current;
    if (at && !isComplete) setFollows(at.scrollHeight - at.scrollTop - at.clientHeight < 24);
  };
  if (text === '' && isComplete) return <p className={classes.empty}>Attempt {attempt} wrote nothing to its log.</p>;
  return (
    <div>
      <div className={classes.logBar}>
        <TextInput
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          placeholder="Lines that contain"
          aria-label="Filter the log"
          leftSection={<IconSearch size={13} />}
        />
        {isComplete ? null : (
          <Switch label="follow" checked={follows} onChange={(event) => setFollows(event.currentTarget.checked)} />
        )}
        <CopyButton text={text} label="Copy the log" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre ref={box} className={classes.log} onScroll={onScroll} tabIndex={0}>
        {shown || (error ? '' : wanted ? 'No line contains that.' : 'Nothing yet.')}
      </pre>
      {error ? <p className={classes.empty}>The log could not be read: {sentenceOf(error)}</p> : null}
    </div>
  );
}
