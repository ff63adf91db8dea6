import { CopyButton, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';

import type { GraphNode } from '../../../diagram';
import { useHands } from '../hands';
import { renameKey } from '../model/document';
import { keysOf, whyNotKey } from '../model/keys';
import classes from './side-panel.module.css';

interface NameProps {
  node: GraphNode;
  readOnly: boolean;
  onName: (name: string) => void;
}

/** The name becomes the step's when the field is left. */
export function NameField({ node, readOnly, onName }: NameProps) {
  const [name, setName] = useState(node.name);
  useEffect(() => setName(node.name), [node.name]);
  return (
    <input
      className={classes.name}
      aria-label="Name of the step"
      value={name}
      placeholder={node.key}
      maxLength={120}
      readOnly={readOnly}
      onChange={(event) => setName(event.currentTarget.value)}
      onBlur={() => onName(name)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur();
        if (event.key === 'Escape') {
          event.stopPropagation();
          setName(node.name);
        }
      }}
    />
  );
}

/** What expressions call the step. Renaming it renames it in all of them. */
export function KeyField({ node, readOnly }: { node: GraphNode; readOnly: boolean }) {
  const { store, kinds } = useHands();
  const [key, setKey] = useState(node.key);
  useEffect(() => setKey(node.key), [node.key]);
  const why = key === node.key ? null : whyNotKey(key, keysOf(store.getState().document, node.id));
  const rename = () => {
    if (why !== null) return setKey(node.key);
    store.getState().apply(`Call the step ${key}`, (document) => renameKey(document, node.id, key, kinds));
  };
  const reference = `{{ steps.${node.key}.output }}`;
  return (
    <div>
      <TextInput
        label="Key"
        labelProps={{ className: classes.label }}
        classNames={{ input: classes.mono }}
        value={key}
        error={why}
        readOnly={readOnly}
        onChange={(event) => setKey(event.currentTarget.value)}
        onBlur={rename}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.blur();
        }}
      />
      <CopyButton value={reference}>
        {({ copied, copy }) => (
          <button type="button" className={classes.reference} onClick={copy} title="Copy">
            Others read its output as <code>{reference}</code> {copied ? '· copied' : ''}
          </button>
        )}
      </CopyButton>
    </div>
  );
}
