import type { TrajectoryBatch } from '#lib/dataset';
import { DIAGNOSTICS, measureStep, readRun, type AnyDiagnostic, type TrainingStepData } from '#lib/diagnostics';
import { seededRandom } from '#lib/numeric';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import type { BenchRow } from './bench-row.js';
import { madeTrajectories } from './made-columns.js';
import { cpuRate } from './rate.js';

const TURNS = 10_000;
const TOKENS = 300;
const METRICS = { entropy: 0.4, score: 0.5, gradNorm: 1, smallBatch: 8, largeBatch: 64, smallSquaredNorm: 2, largeSquaredNorm: 1 }; // prettier-ignore
/** Some begin as the words that the catalogue looks for, one in a thousand is one. */
const WORDS = ['the', ' so', ' was', ' it', 'is', ' have', ' to', ' go', '.', ' left', ' all', ' a'];

/**
 * What a training step of 10,000 turns and 3 million tokens costs the whole catalogue, on one core, every signal that a
 * diagnostic reads being there; and turns a second of those that read no tokens.
 */
export const diagnostics: Benchmark = {
  name: 'diagnostics',
  async run() {
    const step = { trainingStep: 0, metrics: METRICS, checkpoint: null, trajectories: madeStep() };
    const measure = (members: readonly AnyDiagnostic[]) => members.map((diagnostic) => measureStep(diagnostic, step));
    const withoutTokens = DIAGNOSTICS.filter(({ requires, accepts }) => ![...requires, ...accepts].some((path) => path.startsWith('token.'))); // prettier-ignore
    const rows = rowsAgainst(
      'turns/s',
      [`reading the ${TURNS * TOKENS} log-probabilities`, await cpuRate(TURNS, () => total(step.trajectories))],
      [
        [`the ${DIAGNOSTICS.length} of the catalogue`, await cpuRate(TURNS, () => measure(DIAGNOSTICS))],
        [`the ${withoutTokens.length} that read no tokens`, await cpuRate(TURNS, () => measure(withoutTokens))],
      ],
    );
    return [...rows, ...slowest(step)];
  },
};

/** Each by itself, the slowest first, against all of them; then what it takes to read a long run of their figures. */
function slowest(step: TrainingStepData): BenchRow[] {
  const measured = DIAGNOSTICS.map(({ id }, i) => ({
    id,
    seconds: cpuSeconds(() => measureStep(DIAGNOSTICS[i], step)),
  }));
  const all = measured.reduce((sum, { seconds }) => sum + seconds, 0);
  const row = (name: string, seconds: number) => ({ name, value: Number((TURNS / seconds).toPrecision(3)), unit: 'turns/s', yardstick: 'all of them', ratio: seconds / all }); // prettier-ignore
  const outcomes = DIAGNOSTICS.map((diagnostic) => measureStep(diagnostic, step));
  const reading = cpuSeconds(
    () =>
    DIAGNOSTICS.map((diagnostic, i) => readRun(diagnostic, Array.from({ length: STEPS }, (_, trainingStep) => ({ trainingStep, outcome: outcomes[i] })))), // prettier-ignore
  );
  return [
    row('all of them, one after the other', all),
    ...measured.toSorted((a, b) => b.seconds - a.seconds).map(({ id, seconds }) => row(id, seconds)),
    { name: `reading ${STEPS} training steps`, value: Math.round(reading * 1000), unit: 'ms', yardstick: 'measuring one', ratio: reading / all }, // prettier-ignore
  ];
}

const STEPS = 1_000;
/** The clock of a thread's time is no finer than some milliseconds. */
const LEAST_SECONDS = 0.1;

/** Seconds of the processor that a call takes, on average over as many as make up a tenth of one. */
function cpuSeconds(work: () => unknown): number {
  work();
  for (let calls = 1; ; calls *= 2) {
    const started = process.threadCpuUsage();
    for (let i = 0; i < calls; i++) work();
    const { user, system } = process.threadCpuUsage(started);
    const seconds = (user + system) / 1e6;
    if (seconds >= LEAST_SECONDS) return seconds / calls;
  }
}

/** Groups of 8, 10 turns of 300 tokens each, and what the catalogue reads of them. */
function madeStep(): TrajectoryBatch {
  const random = seededRandom('a training step');
  const bare = madeTrajectories(TURNS);
  const count = bare.ids.length;
  const column = (length: number, draw: () => number) => ({ kind: 'number' as const, values: Float64Array.from({ length }, draw) }); // prettier-ignore
  const tokens = (draw: () => number) => ({ kind: 'number' as const, values: Float32Array.from({ length: TURNS * TOKENS }, draw) }); // prettier-ignore
  const flag = (share: number) => () => Number(random.next() < share);
  // the trajectories of a group begin with the same prompt
  const stateKey = bare.stateKey.slice();
  bare.groupOf.forEach((group, i) => (stateKey[bare.turnOffsets[i]] = group));
  return {
    ...bare,
    stateKey,
    tokenOffsets: Int32Array.from({ length: TURNS + 1 }, (_, turn) => turn * TOKENS),
    columns: new Map<`${'trajectory' | 'turn' | 'token'}.${string}`, ReturnType<typeof column> | ReturnType<typeof tokens> | { kind: 'text'; values: string[] }>([
      ['trajectory.outcomeReward', column(count, flag(0.4))],
      ['trajectory.rewardScore', column(count, () => random.normal())],
      ['trajectory.policyVersion', column(count, () => -random.integer(3))],
      ['turn.reward', column(TURNS, flag(0.1))],
      ['turn.isActionValid', column(TURNS, flag(0.95))],
      ['turn.toolError', column(TURNS, flag(0.05))],
      ['turn.containsAnswer', column(TURNS, flag(0.1))],
      ['turn.successEstimate', column(TURNS, () => random.next())],
      ['turn.processReward', column(TURNS, () => random.next())],
      ['turn.humanLabel', column(TURNS, () => random.integer(3) - 1)],
      ['turn.judgeLabel', column(TURNS, () => random.integer(3) - 1)],
      ['turn.tokenCount', column(TURNS, () => TOKENS)],
      ['token.logprob', tokens(() => Math.log(1 - random.next()))],
      ['token.rolloutLogprob', tokens(() => Math.log(1 - random.next()))],
      ['token.loggedAdvantage', tokens(() => random.normal())],
      ['token.entropy', tokens(() => random.next())],
      ['token.mask', tokens(flag(0.9))],
      ['token.text', { kind: 'text', values: Array.from({ length: TURNS * TOKENS }, () => random.next() < 0.001 ? ' Wait' : WORDS[random.integer(WORDS.length)]) }],
    ]),
  }; // prettier-ignore
}

function total({ columns }: TrajectoryBatch): number {
  const { values } = columns.get('token.logprob')! as { values: Float32Array };
  let sum = 0;
  for (let k = 0; k < values.length; k++) sum += values[k];
  return sum;
}
