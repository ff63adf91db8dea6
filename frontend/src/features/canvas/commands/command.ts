import type { Hands } from '../hands';
import type { MenuTarget } from '../ui';

export type CommandGroup = 'Add' | 'Edit' | 'Select' | 'View' | 'Workflow';
export type { MenuTarget as MenuName } from '../ui';

/** One row drives the keys, the menus and the shortcut sheet. */
export interface Command {
  id: string;
  name: string;
  group: CommandGroup;
  /** 'mod+z' is Ctrl, or Cmd on a Mac. Single letters never act while somebody types. */
  keys: readonly string[];
  /** Acts even while the cursor stands in a field. */
  inFields?: boolean;
  menus?: readonly MenuTarget[];
  when: (hands: Hands) => boolean;
  run: (hands: Hands) => void | Promise<void>;
}
