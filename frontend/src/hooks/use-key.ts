import { useEffect, useRef } from 'react';

// Nobody types into a box that is ticked: after a click on one, the keys of the page go on.
const TYPING =
  'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable="true"], [role="textbox"], .cm-editor';

/** True where a key belongs to what the person types in, or to an open dialog. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(TYPING) !== null;
}

const PRESSED_BY_KEY = 'button, a[href], summary, [role="button"], [role="radio"], [role="menuitem"]';

/** Enter and Space on what can be pressed press it: they are no page's shortcut there. */
function presses(event: KeyboardEvent): boolean {
  const isPress = event.key === 'Enter' || event.key === ' ';
  return isPress && event.target instanceof Element && event.target.closest(PRESSED_BY_KEY) !== null;
}

/** A key that means something else here: with a modifier, while somebody types, on a button, below an open dialog. */
function isNoShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  if (isTyping(event.target) || presses(event)) return true;
  return document.querySelector('[role="dialog"][aria-modal="true"]') !== null;
}

/** Plain single-key shortcuts of a page ('r', 'g', '?'). Silent while somebody types or a dialog is open. */
export function useKeys(bindings: { [key: string]: () => void }): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isNoShortcut(event)) return;
      const act = latest.current[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
}
