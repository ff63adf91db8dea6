import { KindIcon, type KindsByName } from '../../diagram';
import type { Difference, FieldChange, How } from './difference';
import classes from './versions.module.css';
import { fieldName, SIGNS, valueText } from './words';

export function HowTag({ how }: { how: How }) {
  return (
    <span className={classes.how} data-how={how}>
      {SIGNS[how]} {how}
    </span>
  );
}

interface Props {
  difference: Difference;
  kinds: KindsByName;
  names: ReadonlyMap<string, string>;
  onSelect: (node: string) => void;
}

/** Step by step and field by field, and the edges last. */
export function Changes({ difference, kinds, names, onSelect }: Props) {
  const { steps, edges } = difference;
  if (steps.length + edges.length === 0)
    return <p className={classes.soft}>Nothing differs. Where steps stand does not count.</p>;
  return (
    <ul className={classes.changes} aria-label="Differences">
      {steps.map(({ node, how, fields }) => (
        <li key={node.id} className={classes.change}>
          <button type="button" className={classes.step} onClick={() => onSelect(node.id)}>
            <KindIcon name={kinds.get(node.kind)?.icon} size={15} />
            <strong>{node.name || node.key}</strong>
            <HowTag how={how} />
          </button>
          <Fields fields={fields} />
        </li>
      ))}
      {edges.map(({ edge, how }) => (
        <li key={`${edge.id} ${how}`} className={classes.edge}>
          <span>
            {names.get(edge.source) ?? edge.source} → {names.get(edge.target) ?? edge.target}
            {edge.source_port === 'out' ? '' : ` by '${edge.source_port}'`}
          </span>
          <HowTag how={how} />
        </li>
      ))}
    </ul>
  );
}

export function Fields({ fields }: { fields: readonly FieldChange[] }) {
  return fields.map((field) => (
    <div key={field.path} className={classes.field}>
      <div className={classes.path}>{fieldName(field)}</div>
      {field.before === undefined ? null : <Value how="removed" text={valueText(field.before)} />}
      {field.after === undefined ? null : <Value how="added" text={valueText(field.after)} />}
    </div>
  ));
}

function Value({ how, text }: { how: 'added' | 'removed'; text: string }) {
  const Tag = how === 'added' ? 'ins' : 'del';
  return (
    <Tag className={classes.value} data-how={how}>
      <span aria-hidden="true">{SIGNS[how]} </span>
      {text === '' ? <em>empty</em> : text}
    </Tag>
  );
}
