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

const FRESH = { requestPolicy: 'network-only' } as const;
const NONE: Turns = { turns: [], isWhole: false, problem: null };

/** All turns of a trajectory, page by page: the first are on screen while the others come. */
export function useTurns(run: string, trajectory: string, analysis: string | undefined, version: unknown): Turns {
  const client = useClient();
  const [found, setFound] = useState(NONE);
  useEffect(() => {
    let isWanted = true;
    const show = (next: Turns) => isWanted && setFound(next);
    const ask = (after: string | null, credited: boolean): Promise<Answer> => {
      const of = { run, trajectory, after };
      return credited && analysis
        ? client.query(CreditedTurnsQuery, { ...of, analysis }, FRESH).toPromise()
        : client.query(TurnsQuery, of, FRESH).toPromise();
    };
    /** Where credit cannot be read the turns are shown without it, and why. */
    const load = async (credited: boolean, problem: string | null): Promise<void> => {
      const turns: Turn[] = [];
      let after: string | null = null;
      do {
        const { data, error }: Answer = await ask(after, credited);
        if (!isWanted) return undefined;
        const page = data?.trajectory?.turns;
        const why = problem ?? error?.message ?? null;
        if (!page && credited && analysis) return load(false, why);
        if (!page) return void show({ turns, isWhole: true, problem: why });
        turns.push(...page.edges.map(({ cursor, node }) => ({ ...node, cursor })));
        after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
        show({ turns: [...turns], isWhole: after === null, problem: why });
      } while (after !== null);
      return undefined;
    };
    void load(true, null);
    return () => {
      isWanted = false;
    };
  }, [client, run, trajectory, analysis, version]);
  return found;
}
