import { Button } from '@mantine/core';
import { IconLink } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';

import type { StepWait } from '../../../api/types';
import { makeCallbackLink } from '../../../api/workspace-calls';
import { CopyButton } from '../../../components/ui/copy-button';
import { notifyFailure } from '../../../components/ui/notify';
import { TimeAgo } from '../../../components/ui/time';
import { useMonitor } from '../store';
import classes from './step-panel.module.css';

interface Props {
  path: string;
  wait: StepWait;
  /** Whoever may answer may see the link. */
  may: boolean;
}

/** What another program has to call, for somebody who has to tell it by hand. */
export function CallbackLink({ path, wait, may }: Props) {
  const { ref } = useMonitor();
  const link = useMutation({
    mutationFn: () => makeCallbackLink(ref.ws, ref.run, path),
    onError: (error) => notifyFailure('The link cannot be shown', error),
  });
  return (
    <section className={classes.actions} aria-label="Callback">
      <span>
        Waits for another program to call back{wait.data.title ? `: ${String(wait.data.title)}` : ''}, since{' '}
        <TimeAgo at={wait.opened_at} />
        {wait.expires_at ? (
          <>
            , until <TimeAgo at={wait.expires_at} />
          </>
        ) : null}
        .
      </span>
      {may && !link.data ? (
        <Button
          variant="default"
          leftSection={<IconLink size={15} />}
          loading={link.isPending}
          onClick={() => link.mutate()}
        >
          Show its link
        </Button>
      ) : null}
      {link.data ? (
        <span>
          <code>{link.data.url}</code> <CopyButton text={link.data.url} label="Copy the link" />
        </span>
      ) : null}
    </section>
  );
}
