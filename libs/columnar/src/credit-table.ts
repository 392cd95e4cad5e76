import { ownerOf } from '#lib/numeric';
import type { StreamColumn, StreamRows, StreamValues } from './arrow-stream.js';
import { creditPerTurn } from './credit-per-turn.js';
import { freeName } from './field-names.js';
import { distinctTexts } from './intern-texts.js';
import type { CreditFile } from './open-credit.js';
import { rankInList } from './rank-in-list.js';

/** The credit that the estimators of an analysis gave in one training step of one run. */
export interface ShardCredits {
  readonly run: string;
  readonly trainingStep: number;
  /** by the label of the estimator in the analysis; null: a signal was missing */
  readonly files: ReadonlyMap<string, CreditFile | null>;
}

const OWN: readonly StreamColumn[] = [
  { name: 'run', type: 'text' },
  { name: 'trainingStep', type: 'integer' },
  { name: 'trajectory', type: 'text' },
  { name: 'turn', type: 'integer' },
];

/** `credit.arrow`: a row per turn, a column per estimator of the analysis, whether it answered in a shard or not. */
export function creditTable(labels: readonly string[]) {
  const used = new Set(OWN.map(({ name }) => name));
  const names = new Map(labels.map((label) => [label, freeName(label, used).name]));
  return {
    columns: [...OWN, ...[...names.values()].map((name): StreamColumn => ({ name, type: 'number' }))],
    rowsOf: (shard: ShardCredits) => rowsOf(shard, names),
  };
}

function rowsOf({ run, trainingStep, files }: ShardCredits, names: ReadonlyMap<string, string>): StreamRows {
  const some = files.values().find((file) => file !== null);
  if (!some) return { rows: 0, values: new Map() };
  const turn = rankInList(some.turnOffsets);
  const credits = [...files].flatMap(([label, file]) => {
    const name = names.get(label);
    return file && name !== undefined ? [[name, creditPerTurn(file)] as const] : [];
  });
  return {
    rows: turn.length,
    values: new Map<string, StreamValues>([
      ['run', { keys: new Int32Array(turn.length), texts: [run] }],
      ['trainingStep', new Int32Array(turn.length).fill(trainingStep)],
      ['trajectory', distinctTexts(ownerOf(some.turnOffsets), some.trajectories)],
      ['turn', turn],
      ...credits,
    ]),
  };
}
