import type { AnyVariables, TypedDocumentNode } from 'urql';
import { useAsked } from '../../use-asked.js';
import { useOnChange } from '../../use-live.js';

/** What is on screen is never older than this, and a fast run never asks more often. */
export const FRESH_MS = 1500;

/** Asks again when the run has got further. The old answer stays until the new one is there. */
export function useLiveQuery<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  position: number,
) {
  const asked = useAsked<Data, Variables>(
    { query, variables, requestPolicy: 'cache-and-network' },
    { keepsLast: true },
  );
  useOnChange(position, asked.again, FRESH_MS);
  return asked;
}
