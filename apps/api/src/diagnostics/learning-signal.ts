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
  readonly asOf: number;
  readonly groups: number;
  readonly comparable: number;
  readonly silent: number;
}

/** Outcomes that differ by less are equal (docs/comparison.md). */
const TOLERANCE = 1e-8;

/**
 * zero-variance-groups: of the groups with two or more outcomes, the share in which all are equal, so that nothing
 * sampled there can move the policy.
 *
 * @param asOf what a later rewind superseded counts; null: all that is projected
 * @returns in the order of the ids
 */
export async function zeroVarianceGroups(
  db: Confined,
  runIds: readonly string[],
  asOf: number | null,
): Promise<Diagnostic[]> {
  const rows = await db.query<GroupCounts>(
    `with wanted as (
       select id, least($2::bigint, coalesce(run_progress.position, 0)) as as_of
       from unnest($1::text[]) as u (id) left join run_progress on run_progress.run_id = id
     ), of_group as (
       select wanted.id, count(outcome_reward) as n, min(outcome_reward) as least, max(outcome_reward) as most
       from wanted join trajectory on run_id = wanted.id and end_position < as_of
         and coalesce(superseded_at, as_of) >= as_of
       group by wanted.id, training_step, group_name
     )
     select wanted.id as run, as_of::float8 as "asOf", count(n)::int as groups,
       count(*) filter (where n >= 2)::int as comparable, count(*) filter (where n >= 2 and most <= least + $3)::int as silent
     from wanted left join of_group using (id) group by wanted.id, as_of`,
    [runIds, asOf, TOLERANCE],
  );
  const byRun = new Map(rows.map((row) => [row.run, diagnosticOf(row)]));
  return runIds.map((id) => byRun.get(id)!);
}

function diagnosticOf({ asOf, groups, comparable, silent }: GroupCounts): Diagnostic {
  const signal = comparable - silent;
  const reading =
    comparable === 0
      ? `none of the ${groups} groups has two outcomes to compare`
      : `${signal} of the ${comparable} comparable groups carry a signal: in the others all outcomes are equal`;
  const detail = { groups, comparableGroups: comparable, zeroVarianceGroups: silent, groupsWithSignal: signal };
  return { id: 'zero-variance-groups', asOf, value: comparable === 0 ? null : silent / comparable, reading, detail };
}
