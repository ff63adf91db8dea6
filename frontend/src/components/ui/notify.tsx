import { notifications } from '@mantine/notifications';

import { sentenceOf } from '../../api/errors';

/** Tells a failed act: what was tried, and why it did not happen. */
export function notifyFailure(what: string, error: unknown): void {
  notifications.show({ color: 'red', title: what, message: sentenceOf(error), autoClose: 8000 });
}

export function notifyDone(message: string): void {
  notifications.show({ message, autoClose: 4000 });
}
