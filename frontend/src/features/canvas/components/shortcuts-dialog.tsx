import { Modal, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';

import { COMMANDS, type CommandGroup } from '../commands';
import { useHands } from '../hands';
import { findCommands, printKeys } from '../keys';
import classes from './overlays.module.css';

const GROUPS: readonly CommandGroup[] = ['Add', 'Edit', 'Select', 'View', 'Workflow'];

/** Every key of the canvas, out of the table that binds them. */
export function CanvasShortcuts() {
  const { ui } = useHands();
  const [query, setQuery] = useState('');
  const found = findCommands(COMMANDS, query);
  return (
    <Modal opened onClose={() => ui.getState().set({ dialog: null })} title="Keys of the canvas" size={780}>
      <TextInput
        data-autofocus
        aria-label="Search the keys"
        placeholder="What it does, or its keys: tidy, ctrl g"
        leftSection={<IconSearch size={14} />}
        mb={12}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
      />
      {found.length === 0 ? <p className={classes.soft}>No command is called that.</p> : null}
      <div className={classes.sheet}>
        {GROUPS.filter((group) => found.some((command) => command.group === group)).map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            {found
              .filter((command) => command.group === group)
              .map((command) => (
                <div key={command.id} className={classes.sheetRow}>
                  <span>{command.name}</span>
                  <Keys keys={command.keys} />
                </div>
              ))}
          </section>
        ))}
        {query.trim() === '' ? <MouseHands /> : null}
      </div>
    </Modal>
  );
}

function MouseHands() {
  return (
    <section>
      <h3>With the mouse</h3>
      <Mouse does="Add a step" how="double-click" />
      <Mouse does="Connect, or add the next step" how="drag from a port" />
      <Mouse does="Move the view" how="Space-drag, middle-drag" />
      <Mouse does="Select several" how="drag, Shift-click" />
      <Mouse does="Put a step into an edge" how="drop it there" />
    </section>
  );
}

function Keys({ keys }: { keys: readonly string[] }) {
  return (
    <span>
      {keys.slice(0, 1).map((chord) =>
        printKeys(chord).map((part) => (
          <kbd key={part} className={classes.kbd}>
            {part}
          </kbd>
        )),
      )}
    </span>
  );
}

function Mouse({ does, how }: { does: string; how: string }) {
  return (
    <div className={classes.sheetRow}>
      <span>{does}</span>
      <span className={classes.keys}>{how}</span>
    </div>
  );
}
