import { type ReactNode, useEffect } from 'react';

import classes from './page.module.css';

interface PageProps {
  title: string;
  hint?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page with a title row; its body scrolls, the title stays. */
export function Page({ title, hint, actions, children }: PageProps) {
  useTitle(title);
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <div className={classes.titles}>
          <h1 className={classes.title}>{title}</h1>
          {hint ? <p className={classes.hint}>{hint}</p> : null}
        </div>
        {actions ? <div className={classes.actions}>{actions}</div> : null}
      </header>
      <div className={classes.body}>{children}</div>
    </div>
  );
}

export function Card({ children }: { children: ReactNode }) {
  return <section className={classes.card}>{children}</section>;
}

/** A plain table in a card. `label` is what a screen reader calls it. */
export function Table({ label, head, children }: { label: string; head: readonly ReactNode[]; children: ReactNode }) {
  return (
    <table className={classes.table} aria-label={label}>
      <thead>
        <tr>
          {head.map((cell, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the head of a table never changes its order
            <th key={at} scope="col">
              {cell}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Pawl`;
  }, [title]);
}
