import { http, type RequestHandler } from 'msw';

import type { Pulse, Step, Usual } from '../../api/types';
import { api, json, missing, text } from './answers';
import type { World } from './world';

/** Where the failing step of the sample stood when it died. */
const GOT_TO = { done: 640, total: 1000, text: 'document 640', attempt: 2 };

function pulseOf(step: Step): Pulse {
  const isDead = step.key === 'compliance' && step.status === 'failed';
  return {
    path: step.path,
    attempt: step.attempt,
    heard_s: step.status === 'running' ? 0.8 : null,
    progress: isDead ? { ...GOT_TO, at: step.finished_at ?? '' } : null,
  };
}

/** What the page of a run asks while somebody watches. */
export function createWatchingHandlers(world: World): RequestHandler[] {
  return [
    http.get(api('runs/:id/pulse'), ({ params }) => {
      const run = world.find(text(params.id));
      if (!run) return missing();
      const items = [...run.state.steps.values()].map(pulseOf);
      return json({ items: items.filter((one) => one.progress || one.heard_s !== null) });
    }),
    http.get(api('runs/:id/usual'), ({ params }) => {
      const run = world.find(text(params.id));
      if (!run) return missing();
      const items: Usual[] = run.state.graph.nodes
        .filter((node) => node.kind !== 'start')
        .map((node) => ({
          node: node.id,
          runs: 12,
          took_ms: node.key === 'review' ? 3_720_000 : 420,
          took_p95_ms: node.key === 'review' ? 9_000_000 : 900,
          queued_ms: 180,
          began_ms: 42_000,
        }));
      return json({ items });
    }),
  ];
}
