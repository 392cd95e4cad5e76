import { useCallback, useRef } from 'react';
import { useQuery, type AnyVariables, type UseQueryArgs } from 'urql';
import { useLink } from './link.js';
import { useOnChange } from './use-live.js';

/**
 * Asks the API. What was answered stays on screen while it is asked again, and while the API is away; once it is back it
 * is asked by itself.
 */
export function useAsked<Data, Variables extends AnyVariables>(args: UseQueryArgs<Variables, Data>) {
  const [{ data: found, error, stale, fetching }, ask] = useQuery<Data, Variables>(args);
  const kept = useRef<{ readonly of: string; readonly data: Data } | null>(null);
  const of = JSON.stringify(args.variables);
  if (found && !fetching) kept.current = { of, data: found };
  const isAway = error?.networkError !== undefined;
  const data = found ?? (isAway && kept.current?.of === of ? kept.current.data : undefined);
  const again = useCallback(() => ask({ requestPolicy: 'network-only' }), [ask]);
  const { returns } = useLink();
  useOnChange(returns, () => args.pause !== true && again(), 0);
  return { data, error: data && isAway ? undefined : error, again, isStale: stale || fetching };
}
