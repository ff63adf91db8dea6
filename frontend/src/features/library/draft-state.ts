import type { Workflow } from '../../api/types';

export interface DraftState {
  words: string;
  title: string;
}

/** What stands between the draft and the world, as far as the list knows: how often it was saved, and what is live. */
export function draftStateOf({
  live_version,
  draft_revision,
}: Pick<Workflow, 'live_version' | 'draft_revision'>): DraftState {
  if (live_version === null) {
    return draft_revision <= 1
      ? { words: 'empty draft', title: 'Nothing is drawn yet.' }
      : {
          words: 'draft, never published',
          title: `Saved ${draft_revision} times. It cannot be run by a trigger before it is published.`,
        };
  }
  return {
    words: `v${live_version} live`,
    title: `New runs use version ${live_version}. The draft was saved ${draft_revision} times in all.`,
  };
}
