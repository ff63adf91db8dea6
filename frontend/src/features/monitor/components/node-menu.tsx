import { Menu } from '@mantine/core';
import { IconHandStop, IconLayoutSidebarRight, IconLink, IconPlayerSkipForward } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';

import { notifyDone } from '../../../components/ui/notify';
import type { Point } from '../../../diagram';
import { paths } from '../../../lib/paths';
import type { Breakpoints } from '../breakpoints';
import { useCanResume, useHands } from '../hands';
import { usePlan } from '../plan';
import { useSelection } from '../selection';
import { useMonitor, useRunState } from '../store';
import { nameOf } from '../summary';
import classes from './run-view.module.css';
import { HAND_ICONS } from './step-hands';

export interface MenuAt {
  node: string;
  /** The step run that stands for the node; null where it has none yet. */
  path: string | null;
  at: Point;
}

interface Props {
  menu: MenuAt;
  breakpoints: Breakpoints;
  onClose: () => void;
}

function Key({ children }: { children: string }) {
  return <kbd className={classes.menuKey}>{children.toUpperCase()}</kbd>;
}

interface OnlyProps {
  path: string | null;
  breakpoints: Breakpoints;
  isDisabled: boolean;
}

/** In a container: a breakpoint of the one item that the node stands for. */
function OnlyThisOne({ path, breakpoints, isDisabled }: OnlyProps) {
  const graph = useRunState((state) => state.graph);
  if (path === null || !breakpoints.may) return null;
  const name = nameOf(graph, path);
  return (
    <Menu.Item
      leftSection={<IconHandStop size={15} />}
      disabled={isDisabled}
      onClick={() => breakpoints.togglePath(path)}
    >
      {breakpoints.paths.has(path) ? `Remove the breakpoint of ${name}` : `Pause only before ${name}`}
    </Menu.Item>
  );
}

/** An address that opens this run at this step, whatever the page shows now. */
function CopyLink({ path }: { path: string }) {
  const { ref } = useMonitor();
  const copy = async () => {
    await navigator.clipboard.writeText(window.location.origin + paths.run(ref.ws, ref.run, path));
    notifyDone('The link was copied. It opens this run at this step.');
  };
  return (
    <Menu.Item leftSection={<IconLink size={15} />} onClick={() => void copy()}>
      Copy link to this step
    </Menu.Item>
  );
}

/** What can be done to the step under the pointer, each with its key. */
export function NodeMenu({ menu, breakpoints, onClose }: Props) {
  const node = useRunState((state) => state.graph.nodes.find((one) => one.id === menu.node));
  const step = useRunState((state) => (menu.path === null ? undefined : state.steps.get(menu.path)));
  const plan = usePlan();
  const canResume = useCanResume();
  const hands = useHands(step);
  const { selectStep } = useSelection();
  const returnTo = useRef(document.activeElement);
  useEffect(
    () => () => {
      if (returnTo.current instanceof HTMLElement && document.activeElement === document.body) returnTo.current.focus();
    },
    [],
  );
  if (!node || (menu.path === null && !breakpoints.may)) return null;
  const act = (hand: (typeof hands)[number]) => {
    selectStep(menu.path);
    hand.act();
  };
  const why = breakpoints.why(node);
  return (
    <Menu
      opened
      onClose={onClose}
      position="bottom-start"
      offset={0}
      width={270}
      returnFocus={false}
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <button
          type="button"
          tabIndex={-1}
          className={classes.menuPoint}
          style={{ left: menu.at.x, top: menu.at.y }}
          aria-label={`Menu of ${node.name || node.key}`}
        />
      </Menu.Target>
      <Menu.Dropdown aria-label={`What to do with ${node.name || node.key}`}>
        {menu.path === null ? null : (
          <Menu.Item leftSection={<IconLayoutSidebarRight size={15} />} onClick={() => selectStep(menu.path)}>
            Open
          </Menu.Item>
        )}
        {menu.path === null ? null : <CopyLink path={menu.path} />}
        {breakpoints.may ? (
          <Menu.Item
            leftSection={<IconHandStop size={15} />}
            rightSection={<Key>b</Key>}
            disabled={why !== null}
            title={why ?? undefined}
            onClick={() => breakpoints.toggle(node)}
          >
            {breakpoints.nodes.has(node.id) ? 'Remove the breakpoint' : 'Pause before this step'}
          </Menu.Item>
        ) : null}
        {node.parent === null ? null : (
          <OnlyThisOne path={menu.path} breakpoints={breakpoints} isDisabled={why !== null} />
        )}
        {step && canResume(step) ? (
          <Menu.Item
            leftSection={<IconPlayerSkipForward size={15} />}
            onClick={() => plan.open({ kind: 'resume', paths: [step.path] })}
          >
            Resume from here
          </Menu.Item>
        ) : null}
        {hands.map((hand) => (
          <Menu.Item
            key={hand.kind}
            leftSection={HAND_ICONS[hand.kind]}
            rightSection={<Key>{hand.key}</Key>}
            disabled={hand.reason !== null}
            title={hand.reason ?? undefined}
            onClick={() => act(hand)}
          >
            {hand.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
