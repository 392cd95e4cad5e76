import { LEARNED_ESTIMATORS, Learner } from '#lib/credit-learned';
import { messageOf } from '#lib/kernel';
import { seededRandom } from '#lib/numeric';
import { DEVICE_IDS, Devices, FEATURE_WIDTH, nearestRows, textFeatures, type Device, type Rows } from '#lib/tensor';
import type { BenchRow } from './bench-row.js';
import type { Benchmark } from './benchmark.js';
import { madeTrajectories, withSignalsOf } from './made-columns.js';

const TURNS = 200_000;
/** Below it an estimator finds too little to learn from. */
const LEAST_TURNS = 400;
const NEAREST = 10;
/** What a training takes depends on when it stops; here all take as many passes over their folds. */
const PASSES = 3;
/** A first time is not counted: it compiles shaders. */
const WARM_UP = LEAST_TURNS;

/** Something that takes a device a while, over a number of turns. */
interface Work {
  readonly name: string;
  run(device: Device, devices: Devices): Promise<unknown>;
}

/**
 * Wall time of what is large, on every device that is there, beside wasm: text features, nearest rows, and an estimator that
 * learns. `--turns` says how large; a software adapter is measured like any other, and its row names it.
 */
export const tensor: Benchmark = {
  name: 'tensor',
  async run({ turns: wanted = TURNS } = {}) {
    const turns = Math.max(LEAST_TURNS, Math.round(wanted / 10) * 10);
    const warmUps = worksOver(WARM_UP);
    const works = worksOver(turns);
    const rows: BenchRow[][] = works.map(() => []);
    for (const id of DEVICE_IDS.toReversed()) {
      const devices = new Devices(id);
      try {
        const device = await devices.current();
        for (const [i, work] of works.entries()) {
          await warmUps[i].run(device, devices);
          const started = performance.now();
          await work.run(device, devices);
          const seconds = (performance.now() - started) / 1000;
          const first = rows[i].at(0);
          const name = `${work.name}, ${id === 'webgpu' ? device.description : id}`;
          rows[i].push({
            name,
            value: Number(seconds.toPrecision(3)),
            unit: 's',
            yardstick: first ? 'the same on wasm' : name,
            ratio: seconds / (first?.value ?? seconds),
          });
        }
      } catch (error) {
        process.stderr.write(`${id} was not measured: ${messageOf(error)}\n`);
      }
    }
    return rows.flat();
  },
};

function worksOver(turns: number): Work[] {
  const count = turns / 2;
  const said = (number: number) => number.toLocaleString('en');
  const observations = madeObservations(count);
  const vectors = madeVectors(count);
  const estimator = LEARNED_ESTIMATORS.find(({ id }) => id === 'spa-learned')!;
  const trajectories = withSignalsOf(estimator, madeTrajectories(turns));
  return [
    {
      name: `features of ${said(count)} observations`,
      run: (device) => textFeatures(device, observations, 'bench'),
    },
    {
      name: `the ${NEAREST} nearest of ${said(count)} x ${FEATURE_WIDTH}`,
      run: (device) => nearestRows(device, vectors, null, NEAREST),
    },
    {
      name: `${estimator.id} over ${said(turns)} turns, ${PASSES} passes`,
      run: (_, devices) => new Learner(devices).run(estimator, trajectories, { epochs: PASSES, patience: PASSES }),
    },
  ];
}

/** Texts of 20 words, as good as all of them different. */
function madeObservations(count: number): string[] {
  const random = seededRandom('observations');
  return Array.from({ length: count }, () => Array.from({ length: 20 }, () => `word${random.integer(2000)}`).join(' '));
}

/** Rows of unit length. */
function madeVectors(count: number): Rows {
  const random = seededRandom('vectors');
  const values = new Float32Array(count * FEATURE_WIDTH);
  for (let row = 0; row < count; row++) {
    const vector = values.subarray(row * FEATURE_WIDTH, (row + 1) * FEATURE_WIDTH);
    vector.forEach((_, k) => (vector[k] = random.normal()));
    const length = Math.hypot(...vector);
    vector.forEach((value, k) => (vector[k] = value / length));
  }
  return { values, width: FEATURE_WIDTH };
}
