import { Menu, useMantineColorScheme } from '@mantine/core';
import { IconDeviceDesktop, IconKeyboard, IconLogout, IconMoon, IconSun } from '@tabler/icons-react';

import { csrfToken } from '../../api/client';
import { usePlace } from '../../api/workspace';
import { useShortcutSheet } from '../../components/ui/shortcuts';
import classes from './frame.module.css';

/** Django ends the session; a real form post, so that its redirect is followed by the browser. */
export function signOut(): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/accounts/logout/';
  const token = document.createElement('input');
  token.type = 'hidden';
  token.name = 'csrfmiddlewaretoken';
  token.value = csrfToken();
  form.append(token);
  document.body.append(form);
  form.submit();
}

const SCHEMES = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'As the system', icon: IconDeviceDesktop },
] as const;

function initials(name: string): string {
  const words = name.split(/[\s@._-]+/).filter(Boolean);
  return words
    .slice(0, 2)
    .map((word) => word[0]?.toUpperCase())
    .join('');
}

export function UserMenu() {
  const { session, workspace } = usePlace();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const name = session.user.name || session.user.email;
  return (
    <Menu position="bottom-end" width={230}>
      <Menu.Target>
        <button type="button" className={classes.avatar} aria-label={`Your menu, ${name}`}>
          {initials(name)}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {session.user.email}
          <br />
          {workspace.role} of {workspace.name}
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>Theme</Menu.Label>
        {SCHEMES.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={15} />}
            onClick={() => setColorScheme(value)}
            fw={colorScheme === value ? 600 : undefined}
            aria-current={colorScheme === value || undefined}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconKeyboard size={15} />}
          onClick={() => useShortcutSheet.setState({ isOpen: true })}
          rightSection={<kbd className={classes.kbd}>?</kbd>}
        >
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={signOut}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
