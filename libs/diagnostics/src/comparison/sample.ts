import { hashUnits, rowsWhere } from '#lib/numeric';
import type { TrajectoryBatch } from '#lib/dataset';
import { gradientWeights, logsLogprobs } from './gradient.js';
import { labelsByAnnotator } from './labels-by-annotator.js';
import { mixedOutcomes } from './learning-signal.js';
import { sortedEntries, type Entries } from './sums.js';
import { joinTags, tagsOf, type Tag } from './tags.js';

/**
 * Whole trajectories kept with all their turns, for what no sum can answer: ranks and resampling.
 *
 * A trajectory is in when the hash of (run, id) is below the rate, whichever shard it is met in: so the sample of the
 * parts is the sample of the whole, and a sample of a higher rate contains that of a lower one.
 */
export interface Sample {
  readonly rate: number;
  readonly groupCount: number;
  /** [trajectories] where each lies in [0, 1): in the sample of any rate above it */
  readonly place: Float64Array;
  /** [trajectories] */
  readonly groupOf: Int32Array;
  /** [trajectories] 1: the outcomes of its group differ, those of trajectories outside of the sample included */
  readonly mixed: Int32Array;
  /** [trajectories + 1] */
  readonly turnOffsets: Int32Array;
  /** per estimator [turns] NaN: nothing said */
  readonly credits: Entries<Float64Array>;
  /** per truth [turns] */
  readonly truths: Entries<Float64Array>;
  /** per pairName(signal, annotator) [turns] NaN: not labelled */
  readonly labels: Entries<Float64Array>;
  /** per what they are made of [turns]: how far a turn's log-probability can be moved; none where it was not logged */
  readonly gradients: Entries<Float64Array>;
  /** per text signal of trajectories */
  readonly tags: Entries<Tag>;
}

/** What is one value per turn. */
type TurnColumns = 'credits' | 'truths' | 'labels' | 'gradients';

/** Turns that a sample may hold: below that many the sample is all there is. */
const SAMPLE_TURNS = 65_536;

/** The rate at which the shards of an analysis of that many turns are sampled, fixed when it is planned. */
export function sampleRateFor(turns: number): number {
  return Math.min(1, SAMPLE_TURNS / Math.max(1, turns));
}

/** A sample without a trajectory. */
export function emptySample(rate: number): Sample {
  return {
    rate,
    groupCount: 0,
    place: new Float64Array(0),
    groupOf: new Int32Array(0),
    mixed: new Int32Array(0),
    turnOffsets: new Int32Array(1),
    credits: [],
    truths: [],
    labels: [],
    gradients: [],
    tags: [],
  };
}

/** The sample of a shard. */
export function sampleOf(
  run: string,
  trajectories: TrajectoryBatch,
  credits: Entries<Float64Array>,
  truths: Entries<Float64Array>,
  rate: number,
): Sample {
  const { ids, groupOf, groupCount, turnOffsets } = trajectories;
  const place = placesOf(run, ids);
  const isWanted = place.map((at) => Number(at < rate));
  const all: Sample = {
    rate: Infinity,
    groupCount,
    place,
    groupOf,
    mixed: mixedOutcomes(trajectories),
    turnOffsets,
    credits,
    truths,
    labels: labelsByAnnotator(trajectories),
    gradients: gradientWeights(trajectories, isWanted),
    tags: tagsOf(trajectories),
  };
  return thinned(all, rate);
}

/** [trajectories] in [0, 1) */
const placesOf = (run: string, ids: readonly string[]) => hashUnits(`${run}\n`, ids);

/** Whether the sample of a shard has trajectories whose tokens' values are looked at; otherwise they may stay in their files. */
export function sampleAsksForTokens(run: string, trajectories: TrajectoryBatch, rate: number): boolean {
  return logsLogprobs(trajectories) && placesOf(run, trajectories.ids).some((at) => at < rate);
}

/** The sample of a lower rate inside a sample. */
export function thinned(sample: Sample, rate: number): Sample {
  if (rate >= sample.rate) return sample;
  const rows = rowsWhere(sample.place.length, (i) => sample.place[i] < rate);
  const { groupOf, groupCount } = renumbered(rows.map((i) => sample.groupOf[i]));
  const turnOffsets = new Int32Array(rows.length + 1);
  rows.forEach((i, at) => {
    turnOffsets[at + 1] = turnOffsets[at] + sample.turnOffsets[i + 1] - sample.turnOffsets[i];
  });
  const gathered = (column: Float64Array) => {
    const kept = new Float64Array(turnOffsets[rows.length]);
    rows.forEach((i, at) => {
      kept.set(column.subarray(sample.turnOffsets[i], sample.turnOffsets[i + 1]), turnOffsets[at]);
    });
    // One spelling of "nothing said": NaN has many bit patterns, and equal samples have equal bytes.
    for (let row = 0; row < kept.length; row++) if (!Number.isFinite(kept[row])) kept[row] = NaN;
    return kept;
  };
  const gatheredAll = (columns: Entries<Float64Array>) =>
    columns.map(([name, column]) => [name, gathered(column)] as const);
  return {
    rate,
    groupCount,
    place: Float64Array.from(rows, (i) => sample.place[i]),
    groupOf,
    mixed: rows.map((i) => sample.mixed[i]),
    turnOffsets,
    credits: gatheredAll(sample.credits),
    truths: gatheredAll(sample.truths),
    labels: gatheredAll(sample.labels),
    gradients: gatheredAll(sample.gradients),
    tags: sample.tags.map(([name, { values, of }]) => [name, { values, of: rows.map((i) => of[i]) }] as const),
  };
}

/** Groups that still have a trajectory, numbered from 0 in order of first appearance. */
function renumbered(groupOf: Int32Array): { groupOf: Int32Array; groupCount: number } {
  const numberOf = new Map<number, number>();
  for (const group of groupOf) if (!numberOf.has(group)) numberOf.set(group, numberOf.size);
  return { groupOf: groupOf.map((group) => numberOf.get(group)!), groupCount: numberOf.size };
}

/**
 * Samples of disjoint sets of groups, one after the other, at the lowest of their rates. A column that one of them lacks
 * is "nothing said" there.
 */
export function joinSamples(samples: readonly Sample[]): Sample {
  const rate = samples.reduce((lowest, sample) => Math.min(lowest, sample.rate), Infinity);
  const parts = samples.map((sample) => thinned(sample, rate));
  return {
    rate,
    groupCount: parts.reduce((sum, part) => sum + part.groupCount, 0),
    place: joined(parts.map((part) => part.place)),
    ...joinedStructure(parts),
    credits: joinedColumns(parts, 'credits'),
    truths: joinedColumns(parts, 'truths'),
    labels: joinedColumns(parts, 'labels'),
    gradients: joinedColumns(parts, 'gradients'),
    tags: joinTags(
      parts.map(({ tags }) => tags),
      parts.map(({ place }) => place.length),
    ),
  };
}

function joinedStructure(parts: readonly Sample[]): Pick<Sample, 'groupOf' | 'mixed' | 'turnOffsets'> {
  const count = parts.reduce((sum, part) => sum + part.groupOf.length, 0);
  const groupOf = new Int32Array(count);
  const mixed = new Int32Array(count);
  const turnOffsets = new Int32Array(count + 1);
  let [trajectory, group] = [0, 0];
  for (const part of parts) {
    const turn = turnOffsets[trajectory];
    for (let i = 0; i < part.groupOf.length; i++, trajectory++) {
      groupOf[trajectory] = group + part.groupOf[i];
      mixed[trajectory] = part.mixed[i];
      turnOffsets[trajectory + 1] = turn + part.turnOffsets[i + 1];
    }
    group += part.groupCount;
  }
  return { groupOf, mixed, turnOffsets };
}

function joinedColumns(parts: readonly Sample[], kind: TurnColumns): Entries<Float64Array> {
  const names = new Set(parts.flatMap((part) => part[kind].map(([name]) => name)));
  const columns = parts.map((part) => new Map(part[kind]));
  return sortedEntries(
    [...names].map((name) => {
      const pieces = parts.map(
        (part, p) => columns[p].get(name) ?? new Float64Array(part.turnOffsets.at(-1)!).fill(NaN),
      );
      return [name, joined(pieces)] as const;
    }),
  );
}

function joined(pieces: readonly Float64Array[]): Float64Array {
  const whole = new Float64Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
