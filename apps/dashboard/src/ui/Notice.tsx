import type { ReactNode } from 'react';
import { refusalText } from '../text/refusal.js';

/** Nothing is here yet, or nothing matches: what that means and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="notice">
      <p className="notice-title">{title}</p>
      {children}
    </div>
  );
}

/** An error where it belongs, with a way on. */
export function Failure({ message, onRetry }: { readonly message: string; readonly onRetry?: () => void }) {
  return (
    <div className="notice notice-error" role="alert">
      <p className="notice-title">This could not be loaded</p>
      <p>{refusalText({ message })}</p>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Keeps the room of what is coming. */
export function Skeleton({ height, count = 1 }: { readonly height: number; readonly count?: number }) {
  return (
    <div aria-hidden="true" className="skeletons">
      {Array.from({ length: count }, (_, i) => (
        <div key={i} className="skeleton" style={{ height }} />
      ))}
    </div>
  );
}
