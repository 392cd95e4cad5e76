import { useCallback, useRef } from 'react';
import { useQuery, type AnyVariables, type UseQueryArgs } from 'urql';
import { useLink } from './link.js';
import { useOnChange } from './use-live.js';

interface Asking {
  /** another page of the same list, another stretch of the same curve: what is there stays until the next is */
  readonly keepsLast?: boolean;
}

/**
 * Asks the API. What was answered stays on screen while it is asked again, and while the API is away; once it is back it
 * is asked by itself. The answer to other variables is never shown, unless it may be.
 */
export function useAsked<Data, Variables extends AnyVariables>(
  args: UseQueryArgs<Variables, Data>,
  { keepsLast = false }: Asking = {},
) {
  const [{ data: found, error, stale, fetching, operation }, ask] = useQuery<Data, Variables>(args);
  const kept = useRef<{ readonly of: string; readonly data: Data } | null>(null);
  const of = JSON.stringify(args.variables ?? {});
  const isAnswer = JSON.stringify(operation?.variables ?? {}) === of;
  if (found && isAnswer) kept.current = { of, data: found };
  const last = kept.current && (kept.current.of === of || keepsLast) ? kept.current.data : undefined;
  const isAway = error?.networkError !== undefined;
  const data = isAnswer && (found || (error && !isAway)) ? found : last;
  const again = useCallback(() => ask({ requestPolicy: 'network-only' }), [ask]);
  const { returns } = useLink();
  useOnChange(returns, () => args.pause !== true && again(), 0);
  return {
    data,
    error: isAnswer && !(data && isAway) ? error : undefined,
    again,
    isStale: stale || fetching || !isAnswer,
  };
}
