import classes from './code.module.css';
import { CodeEditor } from './code-editor';

export interface JsonEditorProps {
  text: string;
  onChange: (text: string) => void;
  label: string;
  help?: string | undefined;
  /** What is wrong with it, in sentences: of the JSON itself, or what the server says of its fields. */
  problems: readonly string[];
}

/** JSON as it is typed, to the last digit: who reads the text decides what becomes of it. */
export default function JsonEditor({ text, onChange, label, help, problems }: JsonEditorProps) {
  return (
    <div className={classes.field}>
      <p className={classes.label} aria-hidden="true">
        {label}
      </p>
      <CodeEditor
        value={text}
        onChange={onChange}
        label={label}
        multiline
        literal
        language="json"
        invalid={problems.length > 0}
      />
      {problems.length > 0 ? (
        <ul className={classes.problems} role="alert" aria-label={`What is wrong with: ${label}`}>
          {problems.map((problem) => (
            <li key={problem} className={classes.problem}>
              {problem}
            </li>
          ))}
        </ul>
      ) : null}
      {help ? <p className={classes.help}>{help}</p> : null}
    </div>
  );
}
