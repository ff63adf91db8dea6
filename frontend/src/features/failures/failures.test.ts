import { describe, expect, it } from 'vitest';

import type { FailureGroup } from '../../api/failures';
import { cameAgain, kindWord, resolvedSentence, standingSentence, workflowsSentence } from './words';

const by = { operation: 'resume', actor: 'Ana', at: '2026-03-01T12:00:00Z', bulk: null };

describe('a group of failures', () => {
  it('says how many runs stand failed, and no more than is known', () => {
    const say = (count: number, is_exact = true) => standingSentence({ standing: { count, is_exact } });
    expect([say(1), say(12), say(0), say(500, false)]).toEqual([
      '1 run stands failed',
      '12 runs stand failed',
      'no run stands failed any more',
      'at least 500 runs stand failed',
    ]);
  });

  it('names its workflows and its kind of step', () => {
    const workflows = ['Invoices', 'Ledger', ''].map((name, at) => ({ id: String(at), name, count: 1 }));
    expect(workflowsSentence({ workflows, workflow_count: 7 } as FailureGroup)).toBe('Invoices, Ledger and 5 more');
    expect(workflowsSentence({ workflows: workflows.slice(2), workflow_count: 1 } as FailureGroup)).toBe(
      'a deleted workflow',
    );
    expect([kindWord('http_request'), kindWord('run')]).toEqual(['http request', 'the run itself']);
  });

  it('tells what resolved it', () => {
    expect(resolvedSentence({ resolved_by: by })).toBe('Ana resumed the last of them');
    expect(resolvedSentence({ resolved_by: { ...by, operation: 'odd' } })).toBe("Ana did 'odd' to the last of them");
    expect(resolvedSentence({ resolved_by: null })).toBe('its runs are gone or went on');
  });

  it('came again only where somebody had said something before', () => {
    const last_at = '2026-03-02T00:00:00Z';
    expect(cameAgain({ state: 'handled', state_at: by.at, last_at })).toBe(true);
    expect(cameAgain({ state: 'handled', state_at: '2026-03-03T00:00:00Z', last_at })).toBe(false);
    expect(cameAgain({ state: 'open', state_at: by.at, last_at })).toBe(false);
  });
});
