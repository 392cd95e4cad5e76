import { Field, Float, ObjectType } from '@nestjs/graphql';
import type { Confined } from '#lib/access';
import { Json, Position } from '../graphql/scalars.js';

@ObjectType({ description: 'A measured statement about a run.' })
export class Diagnostic {
  @Field(() => String)
  id!: string;

  @Field(() => Position, { description: 'What it speaks of: events before this position.' })
  asOf!: number;

  @Field(() => Float, { nullable: true, description: 'null: undefined, and the reading says why' })
  value!: number | null;

  @Field(() => String, { description: 'What it says, in one sentence.' })
  reading!: string;

  @Field(() => Json, { description: 'The numbers behind it.' })
  detail!: unknown;
}

interface GroupCounts {
  readonly run: string;
  readonly groups: number;
  readonly comparable: number;
  readonly silent: number;
}

/** Outcomes that differ by less are equal (docs/comparison.md). */
const TOLERANCE = 1e-8;

/**
 * zero-variance-groups: of the groups with two or more outcomes, the share in which all are equal, so that nothing
 * sampled there can move the policy.
 */
export async function zeroVarianceGroups(
  db: Confined,
  runIds: readonly string[],
  asOf: number,
): Promise<Map<string, Diagnostic>> {
  const rows = await db.query<GroupCounts>(
    `select run_id as run, count(*)::int as groups, count(*) filter (where n >= 2)::int as comparable,
       count(*) filter (where n >= 2 and spread <= $3)::int as silent
     from (
       select run_id, count(outcome_reward) as n, max(outcome_reward) - min(outcome_reward) as spread
       from trajectory where run_id = any ($1) and end_position < $2 and superseded_at is null
       group by run_id, training_step, group_name
     ) as of_group group by run_id`,
    [runIds, asOf, TOLERANCE],
  );
  const byRun = new Map(rows.map((row) => [row.run, row]));
  return new Map(runIds.map((id) => [id, diagnosticOf(byRun.get(id), asOf)]));
}

function diagnosticOf(counts: GroupCounts | undefined, asOf: number): Diagnostic {
  const { groups = 0, comparable = 0, silent = 0 } = counts ?? {};
  const signal = comparable - silent;
  const reading =
    comparable === 0
      ? `none of the ${groups} groups has two outcomes to compare`
      : `${signal} of the ${comparable} comparable groups carry a signal: in the others all outcomes are equal`;
  const detail = { groups, comparableGroups: comparable, zeroVarianceGroups: silent, groupsWithSignal: signal };
  return { id: 'zero-variance-groups', asOf, value: comparable === 0 ? null : silent / comparable, reading, detail };
}
