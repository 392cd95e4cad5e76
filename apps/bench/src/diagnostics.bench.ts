import type { TrajectoryBatch } from '#lib/dataset';
import { DIAGNOSTICS, measureStep, readRun, type AnyDiagnostic, type TrainingStepData } from '#lib/diagnostics';
import { rowsAgainst, type Benchmark } from './benchmark.js';
import type { BenchRow } from './bench-row.js';
import { MADE_METRICS, madeStep } from './made-step.js';
import { cpuRate } from './rate.js';

const TURNS = 10_000;
const TOKENS = 300;
/** Those whose answer needs no token: a run can be caught up by them without one being read. */
export const WITHOUT_TOKENS = DIAGNOSTICS.filter(
  ({ requires, accepts }) => ![...requires, ...accepts].some((path) => path.startsWith('token.')),
);

/**
 * What a training step of 10,000 turns and 3 million tokens costs the whole catalogue, on one core, every signal that a
 * diagnostic reads being there; and turns a second of those that read no tokens.
 */
export const diagnostics: Benchmark = {
  name: 'diagnostics',
  async run() {
    const step = { trainingStep: 0, metrics: MADE_METRICS, checkpoint: null, trajectories: madeStep(TURNS, TOKENS) };
    const measure = (members: readonly AnyDiagnostic[]) => {
      const unseen = unseenStep(step);
      return members.map((diagnostic) => measureStep(diagnostic, unseen));
    };
    const rows = rowsAgainst(
      'turns/s',
      [`reading the ${TURNS * TOKENS} log-probabilities`, await cpuRate(TURNS, () => total(step.trajectories))],
      [
        [`the ${DIAGNOSTICS.length} of the catalogue`, await cpuRate(TURNS, () => measure(DIAGNOSTICS))],
        [`the ${WITHOUT_TOKENS.length} that read no tokens`, await cpuRate(TURNS, () => measure(WITHOUT_TOKENS))],
      ],
    );
    return [...rows, ...slowest(step)];
  },
};

/** The same step as one of which nothing is known yet: what the members share is derived once per batch. */
const unseenStep = (step: TrainingStepData): TrainingStepData => ({ ...step, trajectories: { ...step.trajectories } });

/** Each by itself, the slowest first, against all of them; then what it takes to read a long run of their figures. */
function slowest(step: TrainingStepData): BenchRow[] {
  const measured = DIAGNOSTICS.map(({ id }, i) => ({
    id,
    seconds: cpuSeconds(() => measureStep(DIAGNOSTICS[i], unseenStep(step))),
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

function total({ columns }: TrajectoryBatch): number {
  const { values } = columns.get('token.logprob')! as { values: Float32Array };
  let sum = 0;
  for (let k = 0; k < values.length; k++) sum += values[k];
  return sum;
}
