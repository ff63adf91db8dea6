import { Alert, Button, Group, Stack, Text } from '@mantine/core';

import { CopyButton } from '../../components/ui/copy-button';
import classes from './triggers.module.css';

/** Where senders deliver, and what they prove themselves with: shown once. */
export function SecretOnce({ path, secret, onClose }: { path: string; secret: string; onClose: () => void }) {
  const address = `${window.location.origin}${path}`;
  return (
    <Stack gap={12}>
      <Shown label="Address" text={address} />
      <Shown label="Secret" text={secret} />
      <Alert color="yellow">Keep the secret now: it is not shown again.</Alert>
      <Group justify="flex-end">
        <Button onClick={onClose}>I have kept it</Button>
      </Group>
    </Stack>
  );
}

function Shown({ label, text }: { label: string; text: string }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {label}
      </Text>
      <div className={classes.once}>
        <code>{text}</code>
        <CopyButton text={text} label={`Copy the ${label.toLowerCase()}`} />
      </div>
    </div>
  );
}
