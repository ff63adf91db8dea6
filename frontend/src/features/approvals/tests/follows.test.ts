import { describe, expect, it } from 'vitest';

import { wordsOf } from '../follows';
import { quorumOf } from '../quorum';

const step = (name: string) => ({ key: name, name, kind: 'email' });
const vote = (decision: 'approved' | 'rejected') => ({
  name: 'Ana',
  decision,
  comment: '',
  at: '2026-03-01T10:00:00Z',
});

describe('what runs on an answer', () => {
  it('is named, and what is not named is counted', () => {
    expect(wordsOf({ port: 'approved', steps: [step('Pay'), step('Tell them')], more: 0 }, null)).toBe(
      'Pay, Tell them',
    );
    expect(wordsOf({ port: 'approved', steps: [step('Pay')], more: 3 }, null)).toBe('Pay and 3 more');
  });

  it('may be nothing: the way ends, or the item does', () => {
    expect(wordsOf({ port: 'rejected', steps: [], more: 0 }, null)).toBe('Nothing more on this way.');
    expect(wordsOf({ port: 'rejected', steps: [], more: 0 }, 'Each')).toBe("Nothing more: this item of 'Each' ends.");
  });
});

describe('the quorum', () => {
  it('is nothing to tell where one person decides', () => expect(quorumOf({ data: {}, votes: [] })).toBeNull());

  it('counts both sides', () => {
    const data = { approvals_needed: 3, rejections_needed: 2 };
    expect(quorumOf({ data, votes: [vote('approved')] })).toBe('1 of 3 approvals');
    expect(quorumOf({ data, votes: [vote('approved'), vote('rejected')] })).toBe('1 of 3 approvals, 1 of 2 rejections');
  });
});
