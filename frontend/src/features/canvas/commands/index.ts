import type { Command } from './command';
import { EDIT_COMMANDS } from './edit';
import { LOOK_COMMANDS } from './look';
import { MARGIN_COMMANDS } from './margin';

export type { Command, CommandGroup, MenuName } from './command';

/** Drives the keys, the menus and the shortcut sheet. */
export const COMMANDS: readonly Command[] = [...EDIT_COMMANDS, ...MARGIN_COMMANDS, ...LOOK_COMMANDS];

export const commandOf = (id: string): Command | undefined => COMMANDS.find((command) => command.id === id);
