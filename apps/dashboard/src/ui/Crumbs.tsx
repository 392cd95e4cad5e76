import { Fragment, useEffect, type ReactNode } from 'react';
import { visibleText } from '../text/visible-text.js';
import { Text } from './Text.js';

interface HeadProps {
  /** somebody else's text, perhaps */
  readonly title: string;
  readonly crumbs?: readonly ReactNode[];
  readonly children?: ReactNode;
}

/** Where one is: the way here, and the page's own name. */
export function Head({ title, crumbs = [], children }: HeadProps) {
  useEffect(() => {
    document.title = `${visibleText(title)} · Recredit`;
  }, [title]);
  return (
    <div>
      {crumbs.length > 0 && (
        <nav className="crumbs" aria-label="Where this is">
          {crumbs.map((crumb, i) => (
            <Fragment key={i}>
              {i > 0 && <span aria-hidden="true">/</span>}
              {crumb}
            </Fragment>
          ))}
        </nav>
      )}
      <div className="title">
        <h1>
          <Text>{title}</Text>
        </h1>
        {children}
      </div>
    </div>
  );
}
