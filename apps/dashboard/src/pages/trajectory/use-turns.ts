import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import type { ResultOf } from '../../graphql.js';
import { CreditedTurnsQuery, TurnsQuery, type Turn } from './queries.js';

interface Turns {
  readonly turns: readonly Turn[];
  readonly isWhole: boolean;
  readonly problem: string | null;
}

interface Answer {
  readonly data?: ResultOf<typeof CreditedTurnsQuery> | ResultOf<typeof TurnsQuery> | undefined;
  readonly error?: Error | undefined;
}

const NONE: Turns = { turns: [], isWhole: false, problem: null };

/** All turns of a trajectory, page by page: the first are on screen while the others come. */
export function useTurns(run: string, trajectory: string, analysis: string | undefined, version: unknown): Turns {
  const client = useClient();
  const [found, setFound] = useState(NONE);
  useEffect(() => {
    let isWanted = true;
    const load = async () => {
      const turns: Turn[] = [];
      let after: string | null = null;
      for (;;) {
        const of: { run: string; trajectory: string; after: string | null } = { run, trajectory, after };
        const options = { requestPolicy: 'network-only' } as const;
        const { data, error }: Answer = analysis
          ? await client.query(CreditedTurnsQuery, { ...of, analysis }, options)
          : await client.query(TurnsQuery, of, options);
        if (!isWanted) return;
        const page = data?.trajectory?.turns;
        if (!page) return setFound({ turns, isWhole: true, problem: error?.message ?? null });
        turns.push(...page.edges.map(({ node }) => node));
        const { hasNextPage, endCursor } = page.pageInfo;
        setFound({ turns: [...turns], isWhole: !hasNextPage, problem: error?.message ?? null });
        if (!hasNextPage) return undefined;
        after = endCursor;
      }
    };
    void load();
    return () => {
      isWanted = false;
    };
  }, [client, run, trajectory, analysis, version]);
  return found;
}
