import { isTyping } from '../../hooks/use-key';
import { COMMANDS, type Command } from './commands';

export type Chord = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** 'mod+shift+z' of an event. Signs like ? and + carry their own Shift; Alt may change the letter, so its key cap counts. */
export function chordOf(event: Chord): string {
  const cap = event.altKey && /^Key[A-Z]$/.test(event.code) ? event.code.slice(3) : event.key;
  const key = cap.length === 1 ? cap.toLowerCase() : cap;
  const isSign = key.length === 1 && !/[a-z0-9]/.test(key);
  const parts = [
    event.ctrlKey || event.metaKey ? 'mod' : '',
    event.shiftKey && !isSign ? 'shift' : '',
    event.altKey ? 'alt' : '',
    key,
  ];
  return parts.filter(Boolean).join('+');
}

const BY_CHORD: ReadonlyMap<string, Command> = new Map(
  COMMANDS.flatMap((command) => command.keys.map((keys): [string, Command] => [keys, command])),
);

/** Things with keys of their own: a button answers to Enter and Space, a menu to arrows. */
const OWN_KEYS =
  'button, a, select, summary, [role="menuitem"], [role="option"], [role="tab"], [role="radio"], [role="slider"], [role="separator"]';
const KEYS_OF_CONTROLS = new Set(['Enter', ' ', 'Tab', 'ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Backspace']);

/** The command that a key press means here and now; undefined where the key belongs to somebody else. */
export function commandFor(event: Chord & { target: EventTarget | null }): Command | undefined {
  const command = BY_CHORD.get(chordOf(event));
  if (!command) return undefined;
  if (isTyping(event.target)) return command.inFields ? command : undefined;
  const isControl = event.target instanceof Element && event.target.closest(OWN_KEYS) !== null;
  return isControl && KEYS_OF_CONTROLS.has(event.key) && !event.ctrlKey && !event.metaKey ? undefined : command;
}

const SIGNS: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
  Delete: 'Del',
  shift: 'Shift',
  alt: 'Alt',
};

/** How a shortcut is written for people: 'Ctrl Shift Z'. */
export function printKeys(keys: string, isMac = /Mac/.test(navigator.platform)): string[] {
  const parts = keys === '+' ? ['+'] : keys.split('+');
  return parts.map((part) =>
    part === 'mod' ? (isMac ? '⌘' : 'Ctrl') : (SIGNS[part] ?? (part.length === 1 ? part.toUpperCase() : part)),
  );
}

/** Commands by what they do, or by the keys as they are printed: 'tidy', 'ctrl g'. */
export function findCommands(commands: readonly Command[], query: string): readonly Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return commands;
  return commands.filter(({ name, keys }) => {
    const parts = [...name.split(/\s+/), ...keys.flatMap((chord) => printKeys(chord))].map((part) =>
      part.toLowerCase(),
    );
    return words.every((word) => parts.some((part) => (word.length === 1 ? part === word : part.startsWith(word))));
  });
}
