import { z } from 'zod';

const Signals = z.looseObject({});
const Record = z.looseObject({
  id: z.string(),
  group: z.string(),
  trainingStep: z.int(),
  turns: z.array(z.looseObject({})),
});

/**
 * A case of an estimator's vector file. Most hold trajectories. Some hold what stands beside them (`comparisons`), or
 * what a trainer logs as turns: `pairs` of sibling turns, `items` of one turn each.
 */
export const EstimatorCase = z
  .looseObject({
    name: z.string(),
    params: z.record(z.string(), z.unknown()).optional(),
    tolerance: z.number().nonnegative().optional(),
    trajectories: z.array(Record).optional(),
    comparisons: z.array(z.looseObject({ a: z.string(), b: z.string() })).optional(),
    pairs: z.array(z.looseObject({ id: z.string(), chosen: Signals, rejected: Signals })).optional(),
    items: z.array(Signals).optional(),
    expected: z.record(z.string(), z.unknown()),
  })
  .refine(
    ({ trajectories, pairs, items }) => trajectories ?? pairs ?? items,
    'has neither trajectories nor pairs nor items',
  );

export type VectorCase = z.infer<typeof EstimatorCase>;

/** The trajectories that say what a case says: a comparison is a signal of its trajectory `a`, a turn has its own. */
export function recordsOf({ trajectories = [], comparisons, pairs, items }: VectorCase): z.infer<typeof Record>[] {
  if (pairs) return pairs.flatMap(({ id, chosen, rejected }) => [turnOf(`${id} +`, id, chosen), turnOf(`${id} -`, id, rejected)]); // prettier-ignore
  if (items) return items.map((item, i) => turnOf(`${i}`, `${i}`, withTrees(item)));
  if (!comparisons) return trajectories;
  return trajectories.map((record) => {
    const own = comparisons.filter(({ a }) => a === record.id);
    return { ...record, signals: { ...(record['signals'] as object | undefined), comparisons: own } };
  });
}

function turnOf(id: string, group: string, signals: object) {
  return { id, group, trainingStep: 0, turns: [{ signals }] };
}

/** Items of the vectors call the two syntax trees `full` and `sub`. */
function withTrees({ full, sub, ...signals }: z.infer<typeof Signals>): object {
  return full === undefined ? signals : { ...signals, fullSyntaxTree: full, syntaxTree: sub };
}
