import { describe, expect, it } from 'vitest';

import type { NodeStatus } from '../../../diagram';
import { sayFreshness } from '../components/freshness-bar';
import { freshnessOf, knownUntil, lastKnown, lastKnownNode } from '../freshness';

const AT = new Date(2026, 2, 4, 12, 4, 31).getTime();
const LOST = freshnessOf('offline', AT);

describe('what a page that hears nothing says', () => {
  it('is believed while the socket is up, and while polls are answered', () => {
    expect(freshnessOf('live', AT).how).toBe('live');
    expect(freshnessOf('connecting', AT).how).toBe('live');
    expect(freshnessOf('polling', AT).how).toBe('polling');
    expect(freshnessOf('reconnecting', AT)).toEqual({ how: 'lost', heardAt: AT });
  });

  it('never is that a step runs', () => {
    expect(lastKnown('running', true)).toBe('was_running');
    expect(lastKnown('running', false)).toBe('running');
    expect(lastKnown('succeeded', true)).toBe('succeeded');
    const running: NodeStatus = { status: 'running', detail: 'attempt 2' };
    const shown = lastKnownNode(running, LOST);
    expect(shown).toMatchObject({ status: 'was_running', detail: 'attempt 2' });
    expect(shown.sentence).toContain('12:04:31');
    expect(lastKnownNode(running, LOST)).toBe(shown);
    expect(lastKnownNode(running, freshnessOf('polling', AT))).toBe(running);
  });

  it('counts no time on that it does not know of', () => {
    expect(knownUntil(LOST)).toBe(new Date(AT).toISOString());
    expect(knownUntil(freshnessOf('live', AT))).toBeNull();
  });

  it('has its moment, and the event from which it goes on', () => {
    expect(sayFreshness(LOST, { isOver: false, seq: 41 })).toContain('since 12:04:31. You see the run as it was then');
    expect(sayFreshness(LOST, { isOver: true, seq: 41 })).toContain('had ended by then');
    expect(sayFreshness(freshnessOf('polling', AT), { isOver: false, seq: 41 })).toContain('from event 41 on');
  });
});
