import { logGamma } from '#lib/numeric';
import { z } from 'zod';
import { defineDiagnostic, type Measured } from '../diagnostic.js';
import { successRate } from '../groups.js';
import { figure, percent } from '../sentences.js';
import { coverageOf, HASHES, type StepCoverage } from '../step-coverage.js';

export interface CoverageOptions {
  /** the experience of a policy that knows nothing: usually the first steps */
  readonly minimumSteps: readonly number[];
  /** what is compared with: their union, and their best mean return */
  readonly referenceSteps: readonly number[];
}

/**
 * How good and how broad the experience of each training step is.
 *
 *     tq = (ḡ(D) − ḡ(D_min)) / (g_ref − ḡ(D_min))        g_ref the best mean return among the reference steps
 *     saco = u(D) / u(D_ref),  logSaco = ln u(D) / ln u(D_ref)      u: different (task, state, action)
 *     noveltyShare     turns of the step whose visit no earlier step made / its turns
 *     cumulativeUnique different visits so far
 *
 * Where steps keep a sample of their visits, u of several steps and the novelty are estimates from the visits that all
 * of them kept.
 *
 * Source: arXiv:2111.04714, ml-jku/OfflineRL; the choice of D_min and D_ref and the novelty are ours.
 *
 * @param steps ascending
 * @param union of the reference steps, where it is known
 */
export function datasetCoverage(
  steps: readonly StepCoverage[],
  { minimumSteps, referenceSteps }: CoverageOptions,
  union?: VisitUnion,
) {
  const among = (chosen: readonly number[]) => steps.filter(({ trainingStep }) => chosen.includes(trainingStep));
  const minimum = among(minimumSteps);
  const reference = among(referenceSteps);
  const count = minimum.reduce((sum, { trajectories }) => sum + trajectories, 0);
  const minimumReturn = minimum.reduce((sum, step) => sum + (step.trajectories / count) * step.meanReturn, 0);
  const referenceReturn = Math.max(...reference.map(({ meanReturn }) => meanReturn));
  const referenceUnique = union?.unique ?? unionOf(reference).unique;
  const seen = new Set<number>();
  let below = HASHES;
  const cumulativeUnique: number[] = [];
  const perStep = steps.map((step) => {
    if (step.below < below) {
      below = step.below;
      for (const hash of seen) if (hash >= below) seen.delete(hash);
    }
    const { hashes, made } = step;
    let turns = 0;
    let fresh = 0;
    for (let k = 0; k < hashes.length && hashes[k] < below; k++) {
      turns += made[k];
      if (!seen.has(hashes[k])) fresh += made[k];
    }
    for (let k = 0; k < hashes.length && hashes[k] < below; k++) seen.add(hashes[k]);
    cumulativeUnique.push(seen.size / (below / HASHES));
    const { trainingStep, meanReturn, uniqueStateActions, uniqueStates } = step;
    const gain = referenceReturn - minimumReturn;
    return {
      trainingStep,
      meanReturn,
      tq: gain === 0 ? null : (meanReturn - minimumReturn) / gain,
      uniqueStateActions,
      saco: uniqueStateActions / referenceUnique,
      logSaco: referenceUnique > 1 ? Math.log(uniqueStateActions) / Math.log(referenceUnique) : null,
      noveltyShare: turns === 0 ? null : fresh / turns,
      uniqueStates,
    };
  });
  return { minimumReturn, referenceReturn, referenceUnique, steps: perStep, cumulativeUnique };
}

/**
 * SACo at equal sizes: u grows with the number of turns.
 *
 *     E[u of m random turns of D] / E[the same of D_ref],  E = Σ_k 1 − C(N − n_k, m) / C(N, m),  m the smaller N
 */
export function rarefiedSaco(
  step: StepCoverage,
  reference: readonly StepCoverage[],
  all: VisitUnion = unionOf(reference),
): number | null {
  const m = Math.min(step.turns, all.turns);
  const expected = expectedUnique(all.visits, all.turns, m) / (all.below / HASHES);
  const own = expectedUnique(step.made, step.turns, m) / (step.below / HASHES); // prettier-ignore
  return expected > 0 ? own / expected : null;
}

function expectedUnique(counts: Iterable<number>, n: number, m: number): number {
  const all = logGamma(n - m + 1) - logGamma(n + 1);
  const chanceMissed = (made: number) =>
    n - made < m ? 0 : Math.exp(logGamma(n - made + 1) - logGamma(n - made - m + 1) + all);
  const known = new Map<number, number>();
  let sum = 0;
  for (const made of counts) {
    let missed = known.get(made);
    if (missed === undefined) known.set(made, (missed = chanceMissed(made)));
    sum = sum + 1 - missed;
  }
  return sum;
}

/** What several steps visited, of the visits that all of them would have kept. */
interface VisitUnion {
  readonly below: number;
  /** turns of each visit that was kept */
  readonly visits: readonly number[];
  /** different visits, all of them: an estimate where not all were kept */
  readonly unique: number;
  readonly turns: number;
}

function unionOf(steps: readonly StepCoverage[]): VisitUnion {
  const below = steps.reduce((least, step) => Math.min(least, step.below), HASHES);
  const made = new Map<number, number>();
  for (const step of steps) {
    const { hashes } = step;
    for (let k = 0; k < hashes.length && hashes[k] < below; k++) {
      made.set(hashes[k], (made.get(hashes[k]) ?? 0) + step.made[k]);
    }
  }
  const turns = steps.reduce((sum, step) => sum + step.turns, 0);
  return { below, visits: [...made.values()], unique: made.size / (below / HASHES), turns };
}

/** Visits kept per training step: a count of many is right to about 1/√512. */
const KEPT = 512;

/** A step's coverage as JSON. */
interface Figures extends Omit<StepCoverage, 'hashes' | 'made'> {
  readonly success: number | null;
  /** base64 of the hashes, 32 bits each, little-endian: a third of their digits, and read at once */
  readonly hashes: string;
  readonly made: readonly number[];
}

function figuresOf({ hashes, made, ...step }: StepCoverage, success: number | null): Figures {
  const bytes = Buffer.from(hashes.buffer, hashes.byteOffset, hashes.byteLength);
  const turns = new Array<number>(made.length);
  for (let k = 0; k < made.length; k++) turns[k] = made[k]; // a spread takes ten times as long
  return { ...step, success, hashes: bytes.toString('base64'), made: turns };
}

function coverageIn({ hashes, made, ...step }: Figures): StepCoverage {
  const kept = new Uint32Array(made.length);
  Buffer.from(kept.buffer).write(hashes, 'base64');
  return { ...step, hashes: kept, made: Int32Array.from(made) };
}

export const datasetCoverageDiagnostic = defineDiagnostic({
  id: 'dataset-coverage',
  version: 3,
  title: 'Breadth of the experience',
  question: 'Is the stored experience good, broad, both or neither?',
  remedy: 'Where nothing new is tried and it fails: a higher temperature, other tasks, restarts from rare states.',
  headline: 'noveltyShare',
  level: 'run',
  status: 'verified',
  source: 'arXiv:2111.04714, ml-jku/OfflineRL; references, novelty and limits ours',
  requires: ['trajectory.outcomeReward', 'turn.state', 'turn.action'],
  accepts: ['trajectory.success'],
  metrics: [],
  params: z.strictObject({}),
  thresholds: z.strictObject({
    minimumSteps: z
      .int()
      .min(1)
      .default(5)
      .describe('first training steps, which stand for a policy that knows nothing'),
    novelty: z
      .number()
      .min(0)
      .max(1)
      .default(0.02)
      .describe('turns never seen before: a smaller share explores nothing'),
    failing: z.number().min(0).max(1).default(0.5).describe('success below which that is a warning'),
  }),

  measure({ trajectories }): Figures | null {
    const [step] = coverageOf(trajectories, KEPT) ?? [];
    if (!step || step.turns === 0 || step.trajectories === 0) return null;
    return figuresOf(step, successRate(trajectories));
  },

  read(steps, { minimumSteps }) {
    const all = steps.map(({ trainingStep, figures }) => ({ ...coverageIn(figures), trainingStep }));
    const numbersOf = all.map(({ trainingStep }) => trainingStep);
    const union = unionOf(all);
    const options = { minimumSteps: numbersOf.slice(0, minimumSteps), referenceSteps: numbersOf };
    const found = datasetCoverage(all, options, union);
    const { trainingStep: _, ...now } = found.steps.at(-1)!;
    return {
      values: {
        ...now,
        rarefiedSaco: rarefiedSaco(all.at(-1)!, all, union),
        cumulativeUnique: found.cumulativeUnique.at(-1)!,
        referenceUnique: found.referenceUnique,
      },
      reasons: {
        tq: 'no training step is better than the first ones',
        logSaco: 'only one thing was ever done',
        noveltyShare: 'the sample of this step is empty',
      },
      sentence: sentenceOf(now, found.cumulativeUnique.at(-1)!),
      steps: found.steps.map(({ trainingStep, ...values }, i) => ({
        trainingStep,
        values: { ...values, success: steps[i].figures.success, cumulativeUnique: found.cumulativeUnique[i] },
        observations: all[i].trajectories,
      })),
      evidence: mostNovel(steps, found.steps),
    };
  },

  rules: ({ novelty, failing }) => [
    {
      id: 'explores-nothing',
      level: 'warn',
      all: [
        { value: 'noveltyShare', op: '<', limit: novelty },
        { value: 'success', op: '<', limit: failing },
      ],
      minimum: 32,
      says: `less than ${percent(novelty)} of the turns do anything new, and fewer than ${percent(failing)} succeed`,
    },
  ],
});

type PerStep = ReturnType<typeof datasetCoverage>['steps'];

function sentenceOf({ noveltyShare, tq }: Pick<PerStep[number], 'noveltyShare' | 'tq'>, unique: number): string {
  const quality = tq === null ? '' : `; its return is ${percent(tq)} of the way from the first steps to the best`;
  // an estimate: three digits of it matter
  const things =
    Math.round(unique) === 1 ? '1 different thing was' : `${figure(Math.round(unique))} different things were`;
  return `${percent(noveltyShare ?? 0)} of the last step's turns do something new, ${things} done so far${quality}`;
}

function mostNovel(steps: readonly Measured<Figures>[], found: PerStep) {
  return found
    .slice(1)
    .map(({ trainingStep, noveltyShare }, i) => ({ trainingStep, noveltyShare, turns: steps[i + 1].figures.turns }))
    .filter(({ noveltyShare }) => noveltyShare !== null)
    .sort((a, b) => b.noveltyShare! - a.noveltyShare!)
    .slice(0, 5)
    .map(({ trainingStep, noveltyShare, turns }) => ({
      trainingStep,
      note: `${percent(noveltyShare!)} of ${turns} turns do something new`,
    }));
}
