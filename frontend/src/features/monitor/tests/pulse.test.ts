import { describe, expect, it } from 'vitest';

import type { Pulse } from '../../../api/types';
import type { NodeStatus } from '../../../diagram';
import { heardWords, pulseWords, withPulse } from '../pulse';

const progress = { done: 640, total: 1000, text: 'row 640', attempt: 1, at: '2026-03-04T12:00:00Z' };
const pulse = (more: Partial<Pulse>): Pulse => ({ path: 'a', attempt: 1, heard_s: null, progress: null, ...more });
const running = { status: 'running', attempt: 1 } as const;
const failed = { status: 'failed', attempt: 1 } as const;

describe('the pulse of a step', () => {
  it('says when its worker was heard, and that it is silent', () => {
    expect(heardWords(0.2)).toBe('heard 1 s ago');
    expect(heardWords(2.4)).toBe('heard 2 s ago');
    expect(heardWords(12)).toBe('silent for 12 s');
    expect(pulseWords(running, pulse({ heard_s: 1 }))).toBe('heard 1 s ago');
    expect(pulseWords(running, pulse({ heard_s: 40, progress }))).toBe('silent for 40 s');
    expect(pulseWords(running, undefined)).toBeNull();
  });

  it('says how far it is, by its own attempt alone, and where it died', () => {
    expect(pulseWords(running, pulse({ heard_s: 1, progress }))).toBe('640 of 1,000');
    expect(pulseWords({ ...running, attempt: 2 }, pulse({ heard_s: 1, progress }))).toBe('heard 1 s ago');
    expect(pulseWords(failed, pulse({ progress }))).toBe('died at 640 of 1,000');
    expect(pulseWords(failed, pulse({ progress: { ...progress, total: null } }))).toBe('died at 640 so far');
    expect(pulseWords({ status: 'cancelled', attempt: 1 }, pulse({ progress }))).toBe('stopped at 640 of 1,000');
    expect(pulseWords({ status: 'succeeded', attempt: 1 }, pulse({ progress }))).toBeNull();
  });

  it('stands on the node in place of its other words, and draws nothing again that is the same', () => {
    const status: NodeStatus = { status: 'running', detail: 'attempt 2' };
    const shown = withPulse(status, 'heard 1 s ago');
    expect(shown.detail).toBe('heard 1 s ago');
    expect(withPulse(status, 'heard 1 s ago')).toBe(shown);
    expect(withPulse(status, 'heard 2 s ago')).not.toBe(shown);
    expect(withPulse(status, null)).toBe(status);
  });
});
