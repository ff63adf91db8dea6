import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useId, useRef, useState } from 'react';

import classes from './search-list.module.css';

export interface Choice {
  id: string;
  title: string;
  detail: string;
  icon: React.ReactNode;
  group?: string;
}

interface Props {
  label: string;
  placeholder: string;
  empty: string;
  choicesFor: (query: string) => readonly Choice[];
  onChoose: (id: string) => void;
  onClose: () => void;
}

const MOVES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

/** A field to type in and the choices below: arrows move, Enter takes, Esc leaves. */
export function SearchList({ label, placeholder, empty, choicesFor, onChoose, onClose }: Props) {
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const choices = choicesFor(query);
  const active = Math.min(at, choices.length - 1);
  useEffect(() => {
    list.current?.children[0]?.querySelector(`[data-at="${active}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = MOVES[event.key];
    if (step !== undefined) setAt(Math.max(0, Math.min(choices.length - 1, active + step)));
    else if (event.key === 'Enter' && choices[active]) onChoose(choices[active].id);
    else if (event.key === 'Escape' || event.key === 'Tab') onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={classes.box}>
      <TextInput
        role="combobox"
        aria-label={label}
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={choices[active] ? `${listId}-${active}` : undefined}
        autoFocus
        data-autofocus
        placeholder={placeholder}
        leftSection={<IconSearch size={14} />}
        value={query}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
        }}
      />
      <div ref={list}>
        {/* Focusable because it scrolls; Tab closes the whole list all the same. */}
        <div id={listId} role="listbox" aria-label={label} tabIndex={0} className={classes.scroll}>
          {choices.map((choice, place) => (
            <Option
              key={choice.id}
              id={`${listId}-${place}`}
              at={place}
              choice={choice}
              before={choices[place - 1]}
              isActive={place === active}
              onChoose={onChoose}
            />
          ))}
        </div>
        {choices.length === 0 ? <p className={classes.empty}>{empty}</p> : null}
      </div>
    </div>
  );
}

interface OptionProps {
  id: string;
  at: number;
  choice: Choice;
  before: Choice | undefined;
  isActive: boolean;
  onChoose: (id: string) => void;
}

function Option({ id, at, choice, before, isActive, onChoose }: OptionProps) {
  return (
    <>
      {choice.group && choice.group !== before?.group ? (
        <div className={classes.group} role="presentation">
          {choice.group}
        </div>
      ) : null}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keyboard, as a combobox does */}
      <div
        id={id}
        role="option"
        tabIndex={-1}
        aria-selected={isActive}
        data-at={at}
        className={classes.option}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => onChoose(choice.id)}
      >
        {choice.icon}
        <span className={classes.words}>
          <span className={classes.title}>{choice.title}</span>
          <span className={classes.detail}>{choice.detail}</span>
        </span>
      </div>
    </>
  );
}
