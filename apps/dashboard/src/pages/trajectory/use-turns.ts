import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import type { ResultOf } from '../../graphql.js';
import { CreditedTurnsQuery, TurnsQuery, type Turn } from './queries.js';

interface Turns {
  readonly turns: readonly Turn[];
  /** whose credit they have; null: they have none */
  readonly analysis: string | null;
  readonly isWhole: boolean;
  readonly problem: string | null;
}

interface Answer {
  readonly data?: ResultOf<typeof CreditedTurnsQuery> | ResultOf<typeof TurnsQuery> | undefined;
  readonly error?: Error | undefined;
}

const FRESH = { requestPolicy: 'network-only' } as const;
const NONE: Turns = { turns: [], analysis: null, isWhole: false, problem: null };

/**
 * All turns of a trajectory, page by page: the first are on screen while the others come, and those with the credit of
 * one analysis until those of another are there. `analysis` null: they are asked for without credit; undefined: it is
 * not known yet, so nothing is asked.
 */
export function useTurns(
  run: string,
  trajectory: string,
  analysis: string | null | undefined,
  version: unknown,
): Turns {
  const client = useClient();
  const of = `${run} ${trajectory}`;
  const [found, setFound] = useState({ of, ...NONE });
  useEffect(() => {
    if (analysis === undefined) return undefined;
    let isWanted = true;
    const show = (next: Turns) => isWanted && setFound({ of, ...next });
    const ask = (after: string | null, credited: boolean): Promise<Answer> => {
      const place = { run, trajectory, after };
      return credited && analysis
        ? client.query(CreditedTurnsQuery, { ...place, analysis }, FRESH).toPromise()
        : client.query(TurnsQuery, place, FRESH).toPromise();
    };
    /** Where credit cannot be read the turns are shown without it, and why. */
    const load = async (credited: boolean, problem: string | null): Promise<void> => {
      const turns: Turn[] = [];
      const whose = credited ? analysis : null;
      let after: string | null = null;
      do {
        const { data, error }: Answer = await ask(after, credited);
        if (!isWanted) return undefined;
        const page = data?.trajectory?.turns;
        const why = problem ?? error?.message ?? null;
        if (!page && credited && analysis) return load(false, why);
        if (!page) return void show({ turns, analysis: whose, isWhole: true, problem: why });
        turns.push(...page.edges.map(({ cursor, node }) => ({ ...node, cursor })));
        after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
        show({ turns: [...turns], analysis: whose, isWhole: after === null, problem: why });
      } while (after !== null);
      return undefined;
    };
    void load(true, null);
    return () => {
      isWanted = false;
    };
  }, [client, of, run, trajectory, analysis, version]);
  return found.of === of ? found : NONE;
}
