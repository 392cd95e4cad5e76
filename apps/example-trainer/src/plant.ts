import { RecreditError } from '#lib/kernel';
import type { Random } from '#lib/numeric';
import type { TrajectoryRecord } from '#lib/protocol';
import type { AssignCredit, StepCredit } from './credit-step.js';
import { shuffled } from './random.js';

/** A training step as a fault sees it. */
interface Judged {
  readonly records: readonly TrajectoryRecord[];
  /** [trajectories] outcome rewards */
  readonly reward: readonly number[];
  /** [trajectories] what the estimator gives: one number each */
  readonly advantage: readonly number[];
  readonly random: Random;
}

/** One number per trajectory, of its turns one each, or of its tokens one each. */
type Planted =
  | { readonly trajectories: readonly number[] }
  | { readonly turns: (trajectory: number, turn: number, turns: number) => number }
  | { readonly tokens: (trajectory: number, turn: number, token: number) => number };

/** A mistake that trainers really make in their advantages, and what it makes of a training step. */
interface Fault {
  readonly says: string;
  readonly plant: (judged: Judged) => Planted;
}

const EPSILON = 1e-6;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;

/** The standard deviation with n − ddof below; 0 where all are the same. */
function spread(values: readonly number[], ddof = 1): number {
  if (values.every((value) => value === values[0])) return 0;
  const middle = mean(values);
  return Math.sqrt(sum(values.map((value) => (value - middle) ** 2)) / (values.length - ddof));
}

/** Every reward by what it is measured against: the rewards of those that `keyOf` puts together. */
function within(
  { reward, records }: Judged,
  keyOf: (row: number) => unknown,
  measured: (value: number, others: readonly number[]) => number,
): Planted {
  const rows = Map.groupBy(records.keys(), keyOf);
  const rewards = new Map([...rows].map(([key, of]) => [key, of.map((row) => reward[row])]));
  return { trajectories: reward.map((value, row) => measured(value, rewards.get(keyOf(row))!)) };
}

const byGroup = (judged: Judged, measured: (value: number, others: readonly number[]) => number) =>
  within(judged, (row) => judged.records[row].group, measured);

/** GRPO's: alone, the reward itself. */
const standardised = (value: number, others: readonly number[], ddof = 1, epsilon = EPSILON) => {
  if (others.length === 1) return value / (1 + epsilon);
  return spread(others, ddof) === 0 ? 0 : (value - mean(others)) / (spread(others, ddof) + epsilon);
};

const changed = (judged: Judged, change: (value: number) => number): Planted => ({
  trajectories: judged.advantage.map(change),
});

const isRejected = ({ signals }: TrajectoryRecord) => signals?.['excluded'] === true;

/** Rejected rollouts get 0, and do or do not enter what the others are measured against. */
function rejecting(judged: Judged, entersBaseline: boolean): Planted {
  const { records, reward } = judged;
  const kept = within(judged, (row) => `${records[row].group} ${entersBaseline ? '' : isRejected(records[row])}`, standardised); // prettier-ignore
  const values = (kept as { trajectories: readonly number[] }).trajectories;
  return { trajectories: reward.map((_, row) => (isRejected(records[row]) ? 0 : values[row])) };
}

const maskOf = ({ turns }: TrajectoryRecord, turn: number): readonly number[] =>
  turns[turn].tokens?.['mask'] as readonly number[];

/** The advantage on the tokens that a wrong mask lets through. */
const masked = (
  { records, advantage }: Judged,
  isIn: (record: TrajectoryRecord, turn: number, token: number) => boolean,
): Planted => ({
  tokens: (row, turn, token) => (isIn(records[row], turn, token) ? advantage[row] : 0),
});

/**
 * The faults that can be planted, each under the name that an audit has for it. They are what public trainers did: rows
 * that lose their advantage, statistics over the wrong rows, flags without effect, masks that are off by one.
 */
export const FAULTS = {
  'grpo-zero-singleton': {
    says: 'a group of one gets 0',
    plant: (judged) => byGroup(judged, (value, others) => (others.length === 1 ? 0 : standardised(value, others))),
  },
  'grpo-population-std': {
    says: 'the spread is divided by n, not n − 1',
    plant: (judged) => byGroup(judged, (value, others) => standardised(value, others, others.length > 1 ? 0 : 1)),
  },
  'grpo-epsilon-1e-4': {
    says: "another library's epsilon",
    plant: (judged) => byGroup(judged, (value, others) => standardised(value, others, 1, 1e-4)),
  },
  'no-std': {
    says: 'not divided by the spread',
    plant: (judged) => byGroup(judged, (value, others) => (others.length === 1 ? value : value - mean(others))),
  },
  rloo: {
    says: 'centred by the mean of the others',
    plant: (judged) =>
      byGroup(judged, (value, others) =>
        others.length === 1 ? value : value - (sum(others) - value) / (others.length - 1),
      ),
  },
  'no-baseline': { says: 'the reward itself', plant: ({ reward }) => ({ trajectories: reward }) },
  'batch-normalised': {
    says: 'statistics over the whole batch',
    plant: (judged) => within(judged, () => 0, standardised),
  },
  'group-mean-batch-std': {
    says: 'centred by the group, divided by the spread of the batch',
    plant: (judged) => {
      const whole = spread(judged.reward) + EPSILON;
      return byGroup(judged, (value, others) => (others.length === 1 ? 0 : (value - mean(others)) / whole));
    },
  },
  'turn-weighted-statistics': {
    says: 'every reward counts once per turn',
    plant: ({ records, reward }) => {
      const rows = Map.groupBy(records.keys(), (row) => records[row].group);
      const repeated = new Map(
        [...rows].map(([group, of]) => [group, of.flatMap((row) => records[row].turns.map(() => reward[row]))]),
      );
      return { trajectories: reward.map((value, row) => standardised(value, repeated.get(records[row].group)!)) };
    },
  },
  'whitened-after': {
    says: 'normalised twice: by the group, then over the batch',
    plant: ({ advantage }) => ({
      trajectories: advantage.map((value) => (value - mean(advantage)) / (spread(advantage) + 1e-8)),
    }),
  },
  'stride-groups': {
    says: 'groups are cut by a fixed stride, so a partial group shifts all that follow',
    plant: (judged) => {
      const sizes = [...Map.groupBy(judged.records, ({ group }) => group).values()].map(({ length }) => length);
      const counts = Map.groupBy(sizes, (size) => size);
      const [[stride]] = [...counts].sort(([a, of], [b, other]) => other.length - of.length || b - a);
      return within(judged, (row) => Math.floor(row / stride), standardised);
    },
  },
  'excluded-left-out': {
    says: 'rejected rollouts get 0 and do not enter the baseline',
    plant: (judged) => rejecting(judged, false),
  },
  'excluded-in-baseline': {
    says: 'rejected rollouts get 0, but move the baseline of the others',
    plant: (judged) => rejecting(judged, true),
  },
  'sign-flipped': { says: 'the sign is wrong', plant: (judged) => changed(judged, (value) => -value) },
  'zeroed-rows': {
    says: 'some rows lose their advantage',
    plant: (judged) => changed(judged, (value) => (judged.random.next() < 0.4 ? 0 : value)),
  },
  scaled: { says: 'all are halved', plant: (judged) => changed(judged, (value) => value / 2) },
  clipped: {
    says: 'cut at ±0.5',
    plant: (judged) => changed(judged, (value) => Math.max(-0.5, Math.min(0.5, value))),
  },
  shifted: { says: 'one number is added', plant: (judged) => changed(judged, (value) => value + 0.3) },
  permuted: {
    says: 'rows are reordered after the advantage was computed',
    plant: ({ advantage, random }) => ({ trajectories: shuffled(random, advantage) }),
  },
  'all-zero': { says: 'nothing is left', plant: (judged) => changed(judged, () => 0) },
  'only-last-turn': {
    says: 'the last turn alone keeps its advantage',
    plant: ({ advantage }) => ({ turns: (row, turn, turns) => (turn === turns - 1 ? advantage[row] : 0) }),
  },
  'only-first-turn': {
    says: 'the first turn alone keeps it',
    plant: ({ advantage }) => ({ turns: (row, turn) => (turn === 0 ? advantage[row] : 0) }),
  },
  'varies-within-trajectory': {
    says: 'a cost for every turn is mixed in',
    plant: ({ advantage }) => ({ turns: (row, turn) => advantage[row] - turn / 100 }),
  },
  'mask-ignored': { says: 'words that had to follow learn too', plant: (judged) => masked(judged, () => true) },
  'mask-inverted': {
    says: 'only words that had to follow learn',
    plant: (judged) => masked(judged, (record, turn, token) => maskOf(record, turn)[token] === 0),
  },
  'mask-shifted-by-1': {
    says: 'the mask is one token late',
    plant: (judged) => masked(judged, (record, turn, token) => maskOf(record, turn)[token - 1] === 1),
  },
  'last-turn-mask-everywhere': {
    says: "the last turn's mask is laid over every turn",
    plant: (judged) =>
      masked(judged, (record, turn, token) => {
        return maskOf(record, turn)[token] === 1 && maskOf(record, record.turns.length - 1)[token] === 1;
      }),
  },
} as const satisfies Record<string, Fault>;

export type FaultId = keyof typeof FAULTS;

/** @throws RecreditError `params.invalid` with the faults there are */
export function faultNamed(name: string): FaultId {
  if (name in FAULTS) return name as FaultId;
  throw new RecreditError('params.invalid', `no fault ${name}: there are ${Object.keys(FAULTS).join(', ')}`);
}

/**
 * The credit of a trainer with a fault in it: it is logged, and learned from. Outcome estimators alone: what is planted
 * starts from one number per trajectory.
 */
export function planted(assign: AssignCredit, fault: FaultId, random: Random): AssignCredit {
  return (records) => {
    const { turn } = assign(records);
    let first = 0;
    const advantage = records.map(({ turns }) => turn[(first += turns.length) - turns.length]);
    const reward = records.map(({ outcomeReward }) => outcomeReward ?? NaN);
    return creditOf(records, (FAULTS[fault] as Fault).plant({ records, reward, advantage, random }));
  };
}

function creditOf(records: readonly TrajectoryRecord[], given: Planted): StepCredit {
  const perTurn = records.flatMap(({ turns }, row) =>
    turns.map((_, turn) => {
      if ('trajectories' in given) return given.trajectories[row];
      return 'turns' in given ? given.turns(row, turn, turns.length) : NaN;
    }),
  );
  if (!('tokens' in given)) return { turn: Float64Array.from(perTurn), token: null };
  const perToken = records.flatMap((record, row) =>
    record.turns.flatMap((_, turn) => maskOf(record, turn).map((_mask, token) => given.tokens(row, turn, token))),
  );
  return { turn: Float64Array.from(perTurn), token: Float64Array.from(perToken) };
}
