import { ActionIcon, Tabs, Tooltip } from '@mantine/core';
import { IconTrash, IconX } from '@tabler/icons-react';
import { useMemo } from 'react';

import { type GraphNode, KindIcon } from '../../../diagram';
import { removeSelected, renameStep } from '../actions';
import { scopeOf } from '../form/completion';
import { ConfigForm } from '../form/config-form';
import { useCanvas, useHands, useUi } from '../hands';
import { setConfig } from '../model/document';
import { nodeOf } from '../model/walk';
import { problemsOfNode } from '../problems';
import { FixButton } from './fix-button';
import { KeyField, NameField } from './name-fields';
import { PolicyForm } from './policy-form';
import classes from './side-panel.module.css';
import { StepAbout } from './step-about';

/** Everything about the one selected step. */
export function StepPanel({ id }: { id: string }) {
  const { ui, kinds } = useHands();
  const node = useCanvas((state) => nodeOf(state.document, id));
  const tab = useUi((state) => state.tab);
  if (!node) return null;
  const kind = kinds.get(node.kind);
  return (
    <>
      <Head node={node} />
      <Tabs
        value={tab}
        onChange={(next) => ui.getState().set({ tab: next ?? 'settings' })}
        className={classes.tabs}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="settings">Settings</Tabs.Tab>
          <Tabs.Tab value="behaviour">Behaviour</Tabs.Tab>
          <Tabs.Tab value="about">About</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="settings" className={classes.scroll}>
          <Settings node={node} />
        </Tabs.Panel>
        <Tabs.Panel value="behaviour" className={classes.scroll}>
          <PolicyForm node={node} kind={kind} />
        </Tabs.Panel>
        <Tabs.Panel value="about" className={classes.scroll}>
          <StepAbout node={node} kind={kind} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function Head({ node }: { node: GraphNode }) {
  const hands = useHands();
  const canEdit = useCanvas((state) => state.canEdit);
  const kind = hands.kinds.get(node.kind);
  return (
    <div className={classes.head}>
      <span className={classes.icon}>
        <KindIcon name={kind?.icon} size={17} />
      </span>
      <NameField node={node} readOnly={!canEdit} onName={(name) => renameStep(hands, node.id, name)} />
      {canEdit ? (
        <Tooltip label="Delete · Del">
          <ActionIcon size={28} aria-label="Delete this step" onClick={() => removeSelected(hands)}>
            <IconTrash size={15} />
          </ActionIcon>
        </Tooltip>
      ) : null}
      <Tooltip label="Close · Esc">
        <ActionIcon size={28} aria-label="Close" onClick={() => hands.store.getState().select([])}>
          <IconX size={15} />
        </ActionIcon>
      </Tooltip>
    </div>
  );
}

/** Fields of the node itself, which no row of the form shows. */
const OWN_FIELDS = new Set(['id', 'key', 'kind', 'parent']);

function Settings({ node }: { node: GraphNode }) {
  const { store, kinds } = useHands();
  const kind = kinds.get(node.kind);
  const graph = useCanvas((state) => state.document);
  const readOnly = !useCanvas((state) => state.canEdit);
  const problems = useCanvas((state) => problemsOfNode(state.problems, node.id));
  const scope = useMemo(() => scopeOf(graph, node.id, kinds), [graph, node.id, kinds]);
  const general = problems.filter((problem) => !problem.field || OWN_FIELDS.has(problem.field));
  return (
    <div className={classes.body}>
      {general.map((problem) => (
        <p key={problem.code + problem.message} className={classes.alert} data-severity={problem.severity}>
          {problem.message} <FixButton problem={problem} />
        </p>
      ))}
      <KeyField node={node} readOnly={readOnly} />
      {kind ? (
        <ConfigForm
          kind={kind}
          config={node.config}
          problems={problems}
          scope={scope}
          readOnly={readOnly}
          onChange={(config, field) =>
            store.getState().apply(`Set ${field}`, (document) => setConfig(document, node.id, config), {
              policy: { kind: 'typing', topic: `${node.id}.${field}` },
            })
          }
        />
      ) : (
        <p className={classes.alert}>
          Nobody here knows the kind '{node.kind}'. Install the plug-in that brings it, or replace the step (R).
        </p>
      )}
    </div>
  );
}
