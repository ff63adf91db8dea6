import { useEffect, useRef } from 'react';

import type { Point } from '../../../diagram';
import { COMMANDS } from '../commands';
import { useHands } from '../hands';
import { printKeys } from '../keys';
import type { MenuTarget } from '../ui';
import classes from './overlays.module.css';

interface Props {
  at: Point;
  target: MenuTarget;
}

const ROW = 31;

/** The commands that fit what was clicked, each with its key. */
export function ContextMenu({ at, target }: Props) {
  const hands = useHands();
  const box = useRef<HTMLDivElement>(null);
  const commands = COMMANDS.filter((command) => command.menus?.includes(target) && command.when(hands));
  useEffect(() => {
    box.current?.querySelector<HTMLElement>('button')?.focus();
    const close = (event: Event) => {
      if (!box.current?.contains(event.target as Element)) hands.ui.getState().set({ menu: null });
    };
    window.addEventListener('pointerdown', close, true);
    window.addEventListener('wheel', close, { passive: true });
    return () => {
      window.removeEventListener('pointerdown', close, true);
      window.removeEventListener('wheel', close);
    };
  }, [hands]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const items = [...(box.current?.querySelectorAll<HTMLElement>('button') ?? [])];
    const now = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'ArrowDown') items[(now + 1) % items.length]?.focus();
    else if (event.key === 'ArrowUp') items[(now - 1 + items.length) % items.length]?.focus();
    else if (event.key === 'Escape') hands.ui.getState().set({ menu: null });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const left = Math.max(8, Math.min(at.x, window.innerWidth - 250));
  const top = Math.max(8, Math.min(at.y, window.innerHeight - commands.length * ROW - 24));
  return (
    <div
      ref={box}
      role="menu"
      tabIndex={-1}
      aria-label="What to do"
      className={classes.menu}
      style={{ left, top }}
      onKeyDown={onKeyDown}
    >
      {commands.map((command) => (
        <button
          key={command.id}
          type="button"
          role="menuitem"
          className={classes.menuItem}
          onClick={() => {
            hands.ui.getState().set({ menu: null });
            void command.run(hands);
          }}
        >
          {command.name}
          <span className={classes.keys}>{printKeys(command.keys[0] ?? '').join(' ')}</span>
        </button>
      ))}
    </div>
  );
}
