import type { ReactNode } from 'react';

interface PanelProps {
  readonly title: string;
  readonly hint?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A titled part of a page. */
export function Panel({ title, hint, actions, children }: PanelProps) {
  return (
    <section className="panel">
      <header className="panel-head">
        <h2>{title}</h2>
        {hint && <p className="hint">{hint}</p>}
        {actions && <div className="panel-actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
