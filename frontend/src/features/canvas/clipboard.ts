import type { Hands } from './hands';

let own = '';

/** The system's clipboard; where the browser refuses it (no permission, plain http), one of our own in this tab. */
export function createClipboard(): Hands['clipboard'] {
  return {
    write: async (text) => {
      own = text;
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // Kept in `own`.
      }
    },
    read: async () => {
      try {
        return (await navigator.clipboard.readText()) || own;
      } catch {
        return own;
      }
    },
  };
}
