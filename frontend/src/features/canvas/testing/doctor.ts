import type { Doctor, DoctorFinding } from '../api';
import type { Kept } from './handlers';

const NONE = { node: null, trigger: null, upcoming: [] };
const well = (message: string): DoctorFinding => ({ ...NONE, state: 'ok', message });
const tick = (local: string, clock: 'forward' | null = null) => ({ at: new Date(local).toISOString(), local, clock });

/** What the server's doctor says of the sample, one finding of each sort. */
export function doctorOf({ draft, workflow }: Kept): Doctor {
  const live = workflow.live_version;
  return {
    revision: draft.revision,
    state: 'warning',
    checks: [
      { check: 'problems', title: 'Graph', state: 'ok', findings: [well('Nothing is wrong with the graph.')] },
      {
        check: 'changes',
        title: 'Changes',
        state: 'ok',
        findings: [well(live ? `It takes the place of version ${live}.` : 'This is the first version.')],
      },
      {
        check: 'schedules',
        title: 'Next firings',
        state: 'warning',
        findings: [
          {
            ...NONE,
            state: 'warning',
            message: "'Nightly': 30 2 * * * in Europe/Berlin. One of the next times falls into a change of the clock.",
            upcoming: [tick('2026-03-28T02:30:00+01:00'), tick('2026-03-29T03:00:00+02:00', 'forward')],
          },
        ],
      },
    ],
  };
}
