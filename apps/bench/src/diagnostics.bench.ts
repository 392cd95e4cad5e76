import type { TrajectoryBatch } from '#lib/dataset';
import { DIAGNOSTICS, measureStep, type AnyDiagnostic, type TrainingStepData } from '#lib/diagnostics';
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
    return [...rows, ...(await slowest(step))];
  },
};

/** Each by itself, the slowest first, against all of them. */
async function slowest(step: TrainingStepData): Promise<BenchRow[]> {
  const measured: { readonly id: string; readonly ms: number }[] = [];
  for (const diagnostic of DIAGNOSTICS) {
    const perSecond = await cpuRate(1, () => measureStep(diagnostic, step));
    measured.push({ id: diagnostic.id, ms: 1000 / perSecond });
  }
  const all = measured.reduce((sum, { ms }) => sum + ms, 0);
  const row = (name: string, ms: number) => ({ name, value: Number(ms.toPrecision(3)), unit: 'ms', yardstick: 'all of them', ratio: ms / all }); // prettier-ignore
  return [
    row('a training step, all of them', all),
    ...measured.toSorted((a, b) => b.ms - a.ms).map(({ id, ms }) => row(id, ms)),
  ];
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
