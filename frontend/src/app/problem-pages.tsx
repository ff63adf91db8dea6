import { Button } from '@mantine/core';
import { IconBug, IconMapPinOff } from '@tabler/icons-react';
import { isRouteErrorResponse, useRouteError } from 'react-router';

import { sentenceOf } from '../api/errors';
import { StateView } from '../components/ui/states';

export function NotFoundPage() {
  return (
    <StateView
      icon={<IconMapPinOff size={22} />}
      title="There is no such page"
      action={
        <Button component="a" href="/" variant="default">
          Go to your workflows
        </Button>
      }
    >
      The address may be mistyped, or what it led to is gone.
    </StateView>
  );
}

/** A page that broke while drawing. The rest of the app stays. */
export function CrashPage() {
  const error = useRouteError();
  if (isRouteErrorResponse(error) && error.status === 404) return <NotFoundPage />;
  const stale = error instanceof TypeError && /dynamically imported module/i.test(error.message);
  return (
    <StateView
      tone="error"
      icon={<IconBug size={22} />}
      title={stale ? 'Pawl was updated' : 'This page broke'}
      action={<Button onClick={() => window.location.reload()}>Load it again</Button>}
    >
      {stale ? 'A newer version is being served. Loading the page again brings it.' : sentenceOf(error)}
    </StateView>
  );
}
