import { Inject } from '@nestjs/common';
import { Args, Query, Resolver } from '@nestjs/graphql';
import {
  estimate,
  ESTIMATORS,
  findEstimator,
  parseParams,
  type Estimate as Estimated,
  type NoEstimate,
  type TrajectoryRecords,
} from '#lib/credit';
import { trajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { recordedInstead, shown, trajectoryIssue, turnsIssue } from '#lib/protocol';
import { Needs } from '../graphql/role.guard.js';
import { PORTS, type ApiPorts } from '../ports.js';
import { Estimate, EstimateInput } from './estimate.object.js';

/** Of one request. Whoever has more of them has a run, and asks for an analysis. */
const MAX_TRAJECTORIES = 4_096;
const MAX_TURNS = 50_000;

@Resolver(() => Estimate)
export class EstimateResolver {
  constructor(@Inject(PORTS) private readonly ports: Pick<ApiPorts, 'estimators' | 'estimation'>) {}

  @Query(() => Estimate, {
    description:
      'Credit for trajectories that are sent along: nothing is stored. Up to 4,096 of them, 50,000 turns, 4 MiB and 30 s.',
  })
  @Needs('analyze')
  async estimate(@Args('input', { type: () => EstimateInput }) input: EstimateInput): Promise<Estimate> {
    const estimator = findEstimator(input.estimator, this.ports.estimators ?? ESTIMATORS);
    if (estimator.device) {
      const why = `${estimator.id} learns, which takes longer than an answer may: ask for an analysis, or use recredit estimate`;
      throw new RecreditError('request.invalid', why, { estimator: estimator.id });
    }
    const params = parseParams(estimator, input.params ?? {});
    const trajectories = recordsOf(input.trajectories);
    const { estimation } = this.ports;
    const answer = estimation
      ? await estimation.estimate(estimator, trajectories, params)
      : estimate(estimator, trajectories, params);
    return shownEstimate(answer, trajectories);
  }
}

/** @throws RecreditError `request.invalid` with the place of what is not as it should be */
function recordsOf(given: unknown): TrajectoryRecords {
  if (!Array.isArray(given)) throw invalid('trajectories', 'a list', shown(given));
  if (given.length > MAX_TRAJECTORIES) {
    throw invalid('trajectories', `up to ${MAX_TRAJECTORIES} of them`, String(given.length));
  }
  const places = new Map<string, number>();
  let turns = 0;
  given.forEach((value: unknown, i) => {
    const place = `trajectories/${i}`;
    const issue = trajectoryIssue(value) ?? turnsIssue((value as TrajectoryRecords[number]).turns);
    if (issue) throw invalid(place + issue.pointer, issue.expected, issue.found);
    const record = value as TrajectoryRecords[number];
    const twin = places.get(record.id);
    if (twin !== undefined) throw invalid(`${place}/id`, `another id than trajectories/${twin} has`, record.id);
    places.set(record.id, i);
    turns += record.turns.length;
  });
  if (turns > MAX_TURNS) throw invalid('trajectories', `up to ${MAX_TURNS} turns in all`, String(turns));
  return given as TrajectoryRecords;
}

function invalid(place: string, expected: string, found: string): RecreditError {
  return new RecreditError('request.invalid', `${place}: expected ${expected}, found ${found}`, {
    pointer: `/${place}`,
    expected,
    found,
  });
}

function shownEstimate(answer: Estimated | NoEstimate, trajectories: TrajectoryRecords): Estimate {
  const { estimator, version, hash = null, params } = answer;
  const said = { estimator, version, hash, params };
  const nothing = { level: null, trajectoryAdvantage: null, turnAdvantage: null, tokenAdvantage: null };
  if (answer.kind === 'missing') {
    const recorded = [...trajectoryBatch(trajectories).columns.keys()];
    const missing = answer.missing.map((each) => ({ ...each, recordedAs: recordedInstead(each.path, recorded) }));
    return { ...said, ...nothing, missing, columns: {}, groups: [], warnings: [] };
  }
  const { level, trajectoryAdvantage, turnAdvantage, tokenAdvantage, columns, groups, warnings } = answer;
  return {
    ...said,
    missing: [],
    level,
    trajectoryAdvantage: trajectoryAdvantage ?? null,
    turnAdvantage: turnAdvantage ?? null,
    tokenAdvantage: tokenAdvantage ?? null,
    columns,
    groups,
    warnings,
  };
}
