import { type NodeProps, NodeResizer } from '@xyflow/react';
import { memo, useEffect, useRef, useState } from 'react';

import { type MarginHands, never, useDiagram } from './context';
import type { NoteFlowNode } from './margin';
import { Markdown } from './markdown';
import classes from './note-card.module.css';
import { NOTE_COLOURS } from './types';

/** A sticky note: Markdown to read, its text to write. */
export const NoteCard = memo(function NoteCard({ id, data, selected }: NodeProps<NoteFlowNode>) {
  const { margin, useIsEdited = never } = useDiagram();
  const isEdited = useIsEdited(id);
  const { note } = data;
  return (
    <div className={classes.note} data-colour={note.colour} data-selected={selected} data-editing={isEdited}>
      {margin && selected && !isEdited ? (
        <>
          <NodeResizer minWidth={140} minHeight={64} lineClassName={classes.line} handleClassName={classes.handle} />
          <Colours id={id} colour={note.colour} margin={margin} />
        </>
      ) : null}
      {margin && isEdited ? (
        <Writing text={note.text} onDone={(text) => margin.onText(id, text)} />
      ) : (
        <div className={classes.words}>
          {note.text.trim() === '' ? (
            <p className={classes.empty}>{margin ? 'Double-click or press Enter to write' : 'Empty note'}</p>
          ) : (
            <Markdown text={note.text} />
          )}
        </div>
      )}
    </div>
  );
});

function Colours({ id, colour, margin }: { id: string; colour: string; margin: MarginHands }) {
  return (
    <fieldset className={`${classes.colours} nodrag`} aria-label="Colour of the note">
      {NOTE_COLOURS.map((one) => (
        <button
          key={one}
          type="button"
          className={classes.colour}
          data-colour={one}
          aria-label={one}
          aria-pressed={one === colour}
          onClick={() => margin.onColour(id, one)}
        />
      ))}
    </fieldset>
  );
}

/** Kept on every way out: Esc, Ctrl+Enter, a click elsewhere. */
function Writing({ text, onDone }: { text: string; onDone: (text: string) => void }) {
  const [draft, setDraft] = useState(text);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    area.current?.focus();
    area.current?.setSelectionRange(text.length, text.length);
  }, [text.length]);
  return (
    <textarea
      ref={area}
      className={`${classes.writing} nodrag nowheel nopan`}
      aria-label="Text of the note, in Markdown"
      value={draft}
      maxLength={10_000}
      placeholder={'# Heading\n**bold**, - list, [ ] to do'}
      onChange={(event) => setDraft(event.currentTarget.value)}
      onBlur={() => onDone(draft)}
      onKeyDown={(event) => {
        event.stopPropagation();
        const isDone = event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey));
        if (!isDone) return;
        event.preventDefault();
        event.currentTarget.blur();
      }}
    />
  );
}
