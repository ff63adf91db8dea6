import { SegmentedControl, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core';

import type { AlertDraft, Channel } from './api';

interface TargetProps {
  draft: AlertDraft;
  set: (changes: Partial<AlertDraft>) => void;
  isNew: boolean;
  hasOwnMail: boolean;
  smtp: readonly string[];
  problemOf: (field: string) => string | undefined;
}

const OWN = { value: '', label: "Pawl's own mail server" };

/** Whom it is sent to, and by what. */
export function TargetFields({ draft, set, isNew, hasOwnMail, smtp, problemOf }: TargetProps) {
  const servers = [...(hasOwnMail || draft.connection === '' ? [OWN] : []), ...smtp];
  return (
    <Stack gap={10}>
      {isNew ? (
        <SegmentedControl
          aria-label="How"
          data={[
            { value: 'mail', label: 'By mail' },
            { value: 'webhook', label: 'By a signed request' },
          ]}
          value={draft.channel}
          onChange={(channel) => set({ channel: channel as Channel })}
        />
      ) : null}
      {draft.channel === 'mail' ? (
        <>
          <TagsInput
            label="To"
            description="Addresses; press Enter after each."
            value={draft.recipients}
            error={problemOf('recipients')}
            acceptValueOnBlur
            splitChars={[',', ' ', ';']}
            onChange={(recipients) => set({ recipients })}
          />
          <Select
            label="Sent by"
            data={servers}
            value={draft.connection}
            allowDeselect={false}
            error={problemOf('connection')}
            onChange={(connection) => set({ connection: connection ?? '' })}
          />
          {!hasOwnMail && draft.connection === '' ? (
            <Text size="sm" c="var(--status-retrying)">
              This Pawl has no mail server of its own: make a connection of kind SMTP, or ask whoever runs it to set
              PAWL_SMTP_HOST.
            </Text>
          ) : null}
        </>
      ) : (
        <TextInput
          label="Address"
          description="It gets a POST with JSON. Addresses inside the house need whoever runs Pawl to allow them."
          placeholder="https://example.com/hooks/pawl"
          value={draft.url}
          error={problemOf('url')}
          onChange={(event) => set({ url: event.currentTarget.value })}
        />
      )}
    </Stack>
  );
}
