import { Modal, SegmentedControl } from '@mantine/core';
import { useState } from 'react';

import { KindIcon, OUT_PORT, type Port } from '../../../diagram';
import { focusStep, say, showStep } from '../actions';
import { type Hands, portsShown, useCanvas, useHands } from '../hands';
import { connect } from '../model/document';
import { nodeOf, whyNotConnect } from '../model/walk';
import { selectedNodeId } from '../store';
import classes from './overlays.module.css';
import { type Choice, SearchList } from './search-list';

function choicesOf(hands: Hands, query: string, allowed: (id: string) => boolean): Choice[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return hands.store
    .getState()
    .document.nodes.filter((node) => allowed(node.id))
    .map((node) => {
      const kind = hands.kinds.get(node.kind);
      return {
        id: node.id,
        title: node.name || node.key,
        detail: `${node.key} · ${kind?.title ?? node.kind}`,
        icon: <KindIcon name={kind?.icon} size={17} />,
      };
    })
    .filter(({ title, detail }) => words.every((word) => `${title} ${detail}`.toLowerCase().includes(word)));
}

/** Finds a step by its name; or connects the selected one to it, without a mouse. */
export function StepChooser({ purpose }: { purpose: 'connect' | 'find' }) {
  const hands = useHands();
  const source = useCanvas(selectedNodeId);
  const close = () => hands.ui.getState().set({ dialog: null });
  if (purpose === 'connect' && source) return <ConnectTo source={source} onClose={close} />;
  return (
    <Modal opened onClose={close} title="Find a step" size={420} yOffset="12vh">
      <SearchList
        label="Find a step"
        placeholder="Name, key or kind"
        empty="No step of this workflow is called that."
        choicesFor={(query) => choicesOf(hands, query, () => true)}
        onChoose={(id) => {
          close();
          showStep(hands, id);
        }}
        onClose={close}
      />
    </Modal>
  );
}

function ConnectTo({ source, onClose }: { source: string; onClose: () => void }) {
  const hands = useHands();
  const node = useCanvas((state) => nodeOf(state.document, source));
  const ports: readonly Port[] = portsShown(hands, source) ?? [{ name: OUT_PORT, title: '' }];
  const names = [
    ...ports.map((one) => ({ value: one.name, label: one.title || one.name })),
    { value: 'error', label: 'On error' },
  ];
  const [port, setPort] = useState(ports[0]?.name ?? 'error');
  const done = () => {
    onClose();
    focusStep(source);
  };
  const choose = (target: string) => {
    const to = nodeOf(hands.store.getState().document, target);
    hands.store.getState().apply('Connect', (document) => connect(document, { source, port, target }, hands.kinds));
    say(hands, `Connected to ${to?.name || to?.key}`);
    done();
  };
  return (
    <Modal opened onClose={done} title={`Connect '${node?.name || node?.key}' to…`} size={420} yOffset="12vh">
      <div className={classes.stack}>
        <SegmentedControl size="xs" aria-label="By which port" value={port} onChange={setPort} data={names} />
        <SearchList
          label="Connect to"
          placeholder="Name, key or kind"
          empty="No step can follow this one. Add one with Tab."
          choicesFor={(query) =>
            choicesOf(
              hands,
              query,
              (target) =>
                whyNotConnect(hands.store.getState().document, { source, port, target }, hands.kinds) === null,
            )
          }
          onChoose={choose}
          onClose={done}
        />
      </div>
    </Modal>
  );
}
