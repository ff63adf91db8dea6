import { Modal } from '@mantine/core';
import { useMatch } from 'react-router';

import { useShortcutSheet } from '../../components/ui/shortcuts';
import { useKeys } from '../../hooks/use-key';
import classes from './frame.module.css';

const EVERYWHERE = [
  { key: 'Ctrl K', label: 'Search and commands' },
  { key: '?', label: 'This sheet' },
];

/** The keys that work on the page that is open. The canvas has a sheet of its own. */
export function ShortcutSheet() {
  const { isOpen, groups } = useShortcutSheet();
  const isCanvas = useMatch('/w/:ws/workflows/:id') !== null;
  useKeys(isCanvas ? {} : { '?': () => useShortcutSheet.setState({ isOpen: true }) });
  const shown = [
    ...groups.filter((group) => group.shortcuts.length > 0),
    { id: 'everywhere', title: 'Everywhere', shortcuts: EVERYWHERE },
  ];
  return (
    <Modal
      opened={isOpen}
      onClose={() => useShortcutSheet.setState({ isOpen: false })}
      title="Keyboard shortcuts"
      size={560}
    >
      {shown.map((group) => (
        <section key={group.id}>
          <h3>{group.title}</h3>
          <div className={classes.sheet}>
            {group.shortcuts.map((one) => (
              <div key={one.key} className={classes.sheetRow}>
                <span>{one.label}</span>
                <kbd className={classes.kbd}>{one.key.length === 1 ? one.key.toUpperCase() : one.key}</kbd>
              </div>
            ))}
          </div>
        </section>
      ))}
    </Modal>
  );
}
