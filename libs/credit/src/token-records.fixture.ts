import * as fc from 'fast-check';
import { rollout } from './estimator.fixture.js';

type Columns = Readonly<Record<string, (number | null)[]>>;
type Name = 'entropy' | 'logprob' | 'updatedLogprob' | 'proxyLogprob' | 'temperedLogprob';

/** A rollout of turns with these token columns. */
export const spokenAs = (group: string, outcome: number, ...turns: Columns[]) =>
  rollout(group, outcome, turns.map((tokens) => ({ tokens }))); // prettier-ignore

const quarter = fc.integer({ min: 0, max: 16 }).map((n) => n / 4);

/** Rollouts of one or two groups, each of one turn with one to four tokens, that have these columns. */
export const spokenBatches = (...names: Name[]) =>
  fc
    .array(
      fc.record({
        group: fc.constantFrom('g', 'h'),
        outcome: fc.integer({ min: -2, max: 2 }),
        tokens: fc.array(fc.record(Object.fromEntries(names.map((name) => [name, quarter]))), {
          minLength: 1,
          maxLength: 4,
        }),
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((drawn) =>
      drawn.map(({ group, outcome, tokens }) => {
        const sign = (name: string) => (name === 'entropy' ? 1 : -1);
        const columns = names.map((name) => [name, tokens.map((token) => sign(name) * token[name])]);
        return spokenAs(group, outcome, Object.fromEntries(columns) as Columns);
      }),
    );

/** The same rollouts and one more in one group, with outcomes that agree up to rounding and are not 0. */
export const agreeing = <Drawn extends { readonly id: string }>(records: readonly Drawn[]) =>
  [...records, { ...records[0], id: 'one more' }].map((record, i) => ({
    ...record,
    group: 'g',
    outcomeReward: i % 2 === 0 ? 0.3 : 0.1 + 0.2,
  }));
