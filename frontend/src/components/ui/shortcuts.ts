import { useEffect, useId } from 'react';
import { create } from 'zustand';

import { useKeys } from '../../hooks/use-key';

export interface Shortcut {
  key: string;
  label: string;
  act: () => void;
}

interface Group {
  id: string;
  title: string;
  shortcuts: readonly { key: string; label: string }[];
}

interface SheetState {
  groups: readonly Group[];
  isOpen: boolean;
}

/** What the shortcut sheet shows: the keys of the pages that are open now. */
export const useShortcutSheet = create<SheetState>(() => ({ groups: [], isOpen: false }));

/** Binds single keys for as long as the component is there, and lists them in the shortcut sheet. */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[]): void {
  const id = useId();
  useKeys(Object.fromEntries(shortcuts.map(({ key, act }) => [key, act])));
  const shown = JSON.stringify(shortcuts.map(({ key, label }) => ({ key, label })));
  useEffect(() => {
    const group: Group = { id, title, shortcuts: JSON.parse(shown) as Group['shortcuts'] };
    useShortcutSheet.setState((state) => ({ groups: [...state.groups, group] }));
    return () => useShortcutSheet.setState((state) => ({ groups: state.groups.filter((one) => one.id !== id) }));
  }, [id, title, shown]);
}
