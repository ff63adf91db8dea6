import { notifications } from '@mantine/notifications';
import type { Connection, FinalConnectionState } from '@xyflow/react';
import { useMemo } from 'react';

import { OUT_PORT, type StepFlowEdge } from '../../diagram';
import { type Hands, useHands } from './hands';
import { connect, reconnect } from './model/document';
import { type Ends, whyNotConnect } from './model/walk';

const endsOf = ({ source, sourceHandle, target }: Pick<Connection, 'source' | 'sourceHandle' | 'target'>): Ends => ({
  source,
  port: sourceHandle ?? OUT_PORT,
  target,
});

/** Drawing edges: refused ones say why, one that ends in empty space asks for the next step. */
export function useConnecting() {
  const hands = useHands();
  return useMemo(() => {
    const { store, kinds } = hands;
    const onConnect = (connection: Connection) =>
      store.getState().apply('Connect', (document) => connect(document, endsOf(connection), kinds));
    const onReconnect = (edge: StepFlowEdge, connection: Connection) =>
      store.getState().apply('Move an edge', (document) => reconnect(document, edge.id, endsOf(connection), kinds));
    const isValid = (connection: Connection | StepFlowEdge) =>
      whyNotConnect(
        store.getState().document,
        endsOf({ ...connection, sourceHandle: connection.sourceHandle ?? null }),
        kinds,
      ) === null;
    const onConnectEnd = (event: MouseEvent | TouchEvent, state: FinalConnectionState) =>
      endConnection(hands, event, state);
    return { onConnect, onReconnect, isValid, onConnectEnd };
  }, [hands]);
}

function endConnection(hands: Hands, event: MouseEvent | TouchEvent, state: FinalConnectionState): void {
  const from = fromOf(state);
  if (!from) return;
  const { toNode } = state;
  if (toNode && toNode.id !== from.node && toNode.type !== 'container') {
    const { document: graph } = hands.store.getState();
    const why = whyNotConnect(graph, { source: from.node, port: from.port, target: toNode.id }, hands.kinds);
    if (why) notifications.show({ message: why, color: 'gray', autoClose: 4000 });
    return;
  }
  const at = 'changedTouches' in event ? event.changedTouches[0] : event;
  if (!at || isOver(at, from.node)) return; // a click on the port, not a drag: the port asks itself
  hands.ui.getState().set({ picker: { from, at: { x: at.clientX, y: at.clientY } } });
}

/** The port that a line left by, where it ended nowhere good. */
function fromOf({ isValid, fromNode, fromHandle }: FinalConnectionState): { node: string; port: string } | null {
  if (isValid || !fromNode || fromHandle?.type !== 'source') return null;
  return { node: fromNode.id, port: fromHandle.id ?? OUT_PORT };
}

function isOver({ clientX: x, clientY: y }: { clientX: number; clientY: number }, nodeId: string): boolean {
  const node = document.querySelector(`.react-flow__node[data-id="${CSS.escape(nodeId)}"]`);
  const box = node?.getBoundingClientRect();
  if (!box) return false;
  const reach = 14;
  return x >= box.left - reach && x <= box.right + reach && y >= box.top - reach && y <= box.bottom + reach;
}
