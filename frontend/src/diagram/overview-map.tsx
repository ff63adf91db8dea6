import { Panel, type ReactFlowState, useReactFlow, useStore, useStoreApi } from '@xyflow/react';
import { memo, useMemo } from 'react';

import classes from './overview-map.module.css';

const WIDTH = 168;
const HEIGHT = 108;
const MARGIN = 8;

interface Plan {
  /** All frames, and all steps, as one path each: a thousand nodes are two elements. */
  frames: string;
  steps: string;
  scale: number;
  left: number;
  top: number;
}

type Lookup = ReactFlowState['nodeLookup'];

function planOf(lookup: Lookup): Plan | null {
  const boxes = [...lookup.values()].map(({ internals, type, width = 0, height = 0 }) => ({
    ...internals.positionAbsolute,
    ...{ type, width, height },
  }));
  if (boxes.length === 0) return null;
  const left = Math.min(...boxes.map((box) => box.x));
  const top = Math.min(...boxes.map((box) => box.y));
  const wide = Math.max(...boxes.map((box) => box.x + box.width)) - left;
  const high = Math.max(...boxes.map((box) => box.y + box.height)) - top;
  const scale = Math.min((WIDTH - 2 * MARGIN) / wide, (HEIGHT - 2 * MARGIN) / high, 0.16);
  const corner = { left: left - (WIDTH / scale - wide) / 2, top: top - (HEIGHT / scale - high) / 2 };
  const draw = (type: string) =>
    boxes
      .filter((box) => box.type === type)
      .map(({ x, y, width, height }) => {
        const at = `M${((x - corner.left) * scale).toFixed(1)} ${((y - corner.top) * scale).toFixed(1)}`;
        return `${at}h${(width * scale).toFixed(1)}v${(height * scale).toFixed(1)}h${(-width * scale).toFixed(1)}z`;
      })
      .join('');
  return { frames: draw('container') + draw('cluster'), steps: draw('step'), scale, ...corner };
}

/** The whole graph in small, with the part that is in view; a press or a drag moves the view there. */
export const OverviewMap = memo(function OverviewMap() {
  const store = useStoreApi();
  const { setCenter, getZoom } = useReactFlow();
  const nodes = useStore((state) => state.nodes);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lookup is filled anew whenever the nodes change
  const plan = useMemo(() => planOf(store.getState().nodeLookup), [store, nodes]);
  if (!plan) return null;
  const go = (event: React.PointerEvent) => {
    if (event.buttons !== 1) return;
    const box = event.currentTarget.getBoundingClientRect();
    const x = plan.left + (event.clientX - box.left) / plan.scale;
    const y = plan.top + (event.clientY - box.top) / plan.scale;
    void setCenter(x, y, { zoom: getZoom() });
  };
  return (
    <Panel position="bottom-right" className={classes.map} onPointerDown={go} onPointerMove={go} data-testid="minimap">
      <svg width={WIDTH} height={HEIGHT} role="img" aria-label="The whole graph in small">
        <path className={classes.frame} d={plan.frames} />
        <path className={classes.step} d={plan.steps} />
      </svg>
      <InView plan={plan} />
    </Panel>
  );
});

const transformOf = (state: ReactFlowState) => state.transform;
const sizeOf = (state: ReactFlowState) => `${state.width} ${state.height}`;

/** Moved by a transform, which needs no layout: it moves at every frame of a pan. */
function InView({ plan }: { plan: Plan }) {
  const [x, y, zoom] = useStore(transformOf);
  const [width = 0, height = 0] = useStore(sizeOf).split(' ').map(Number);
  const { scale, left, top } = plan;
  const at = `translate(${(-x / zoom - left) * scale}px, ${(-y / zoom - top) * scale}px)`;
  return (
    <span
      className={classes.view}
      style={{ transform: at, width: (width / zoom) * scale, height: (height / zoom) * scale }}
    />
  );
}
