import { useEffect } from 'react';

import { useHands } from './hands';
import { commandFor } from './keys';

/** Binds the command table to the keyboard while the canvas is open. A dialog on top keeps its keys. */
export function useKeyboard(): void {
  const hands = useHands();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      const { picker, dialog } = hands.ui.getState();
      if (picker || dialog || document.querySelector('[role="dialog"][aria-modal="true"]')) return;
      const command = commandFor(event);
      if (!command?.when(hands)) return;
      event.preventDefault();
      void command.run(hands);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [hands]);
}
