import { numbers, type Texts, type TrajectoryBatch } from '#lib/dataset';
import { hash32, logGamma, pairLabels } from '#lib/numeric';
import { z } from 'zod';
import { defineDiagnostic, type Measured } from '../diagnostic.js';
import { successRate } from '../groups.js';
import { figure, percent } from '../sentences.js';
import { placesOf, trajectoryOfTurns } from '../visits.js';

/** What one training step visited. Of many different visits those of smallest hash are kept: the same ones on every step. */
export interface StepCoverage {
  readonly trainingStep: number;
  /** turns with a state and an action */
  readonly turns: number;
  /** different (task, state, action), all of them counted */
  readonly uniqueStateActions: number;
  /** different (task, state) */
  readonly uniqueStates: number;
  readonly trajectories: number;
  readonly meanReturn: number;
  /** visits are kept whose hash is below; 2^32: all are */
  readonly below: number;
  /** [kept] hash of a visit and how many turns made it */
  readonly visits: readonly (readonly [hash: number, turns: number])[];
}

const HASHES = 2 ** 32;
/** Turns of a visit that are counted, beyond any training step; with a hash they fit into one number. */
const COUNTS = 2 ** 20;

/**
 * Counts what the trajectories visit, by the texts of states and actions, so that steps can be compared.
 *
 * @param most visits that are kept per training step; with fewer all numbers are exact
 * @returns per training step, ascending; null: the texts were not loaded
 */
export function coverageOf(trajectories: TrajectoryBatch, most = Infinity): StepCoverage[] | null {
  const { texts, trainingStep } = trajectories;
  const outcome = numbers(trajectories, 'trajectory.outcomeReward');
  if (!texts || !outcome) return null;
  const { placeOf, count: places } = placesOf(trajectories);
  const { labels: visitOf, count } = pairLabels(placeOf, trajectories.actionKey);
  const hashOf = hashesOfVisits(trajectories, texts);
  const wasThere = new Int32Array(places).fill(-1);
  const made = new Int32Array(count);
  const firstTurn = new Int32Array(count);
  const steps = [...new Set(trainingStep)].sort((a, b) => a - b);
  return steps.map((step, s) => {
    let [turns, uniqueStates, judged, sum] = [0, 0, 0, 0];
    const visits: number[] = [];
    for (let row = 0; row < trainingStep.length; row++) {
      if (trainingStep[row] !== step) continue;
      if (!Number.isNaN(outcome[row])) {
        judged++;
        sum += outcome[row];
      }
      for (let turn = trajectories.turnOffsets[row]; turn < trajectories.turnOffsets[row + 1]; turn++) {
        const visit = visitOf[turn];
        if (visit < 0) continue;
        turns++;
        if (wasThere[placeOf[turn]] !== s) uniqueStates++;
        wasThere[placeOf[turn]] = s;
        if (made[visit]++ === 0) firstTurn[visits.push(visit) - 1] = turn;
      }
    }
    // the hash above, how many turns below: one number each, which sorts by the hash
    const hashed = new Float64Array(visits.length);
    for (let k = 0; k < visits.length; k++) {
      hashed[k] = hashOf(firstTurn[k]) * COUNTS + Math.min(made[visits[k]], COUNTS - 1);
      made[visits[k]] = 0;
    }
    const least = leastOf(hashed, most + 1);
    const visitAt = (at: number) => [Math.floor(least[at] / COUNTS), least[at] % COUNTS] as const;
    return {
      trainingStep: step,
      turns,
      uniqueStateActions: visits.length,
      uniqueStates,
      trajectories: judged,
      meanReturn: judged > 0 ? sum / judged : NaN,
      below: hashed.length > most ? visitAt(most)[0] : HASHES,
      visits: Array.from({ length: Math.min(most, hashed.length) }, (_, at) => visitAt(at)),
    };
  });
}

/** The hash of what a turn visits: its task, state and action by their texts, each of which is read once. */
function hashesOfVisits(trajectories: TrajectoryBatch, texts: Texts): (turn: number) => number {
  const { stateKey, actionKey, groupOf, groups } = trajectories;
  const owner = trajectoryOfTurns(trajectories);
  const [ofTask, ofState, ofAction] = [hashesOf(groups, 3), hashesOf(texts.states, 1), hashesOf(texts.actions, 2)];
  return (turn) => mixed(mixed(ofTask(groupOf[owner[turn]]), ofState(stateKey[turn])), ofAction(actionKey[turn]));
}

/** The hash of a text, by its key: taken when it is first asked for. */
function hashesOf(texts: readonly string[], seed: number): (key: number) => number {
  const hashes = new Float64Array(texts.length).fill(-1);
  return (key) => (hashes[key] < 0 ? (hashes[key] = hash32(texts[key], seed)) : hashes[key]);
}

/** Parts of the range of hashes: about as many values as are wanted are sorted, not all. */
const PARTS = 1024;

/** The least values, ascending: as many as are wanted, and perhaps more. @param hashed below HASHES · COUNTS */
function leastOf(hashed: Float64Array, wanted: number): Float64Array {
  if (hashed.length <= wanted) return hashed.sort();
  const width = (HASHES / PARTS) * COUNTS;
  const inPart = new Int32Array(PARTS);
  for (let k = 0; k < hashed.length; k++) inPart[Math.floor(hashed[k] / width)]++;
  let [parts, count] = [0, 0];
  while (count < wanted) count += inPart[parts++];
  return hashed.filter((value) => value < parts * width).sort();
}

/** A 32-bit hash of two, in their order. */
function mixed(a: number, b: number): number {
  let h = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ b;
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 16), 0x27d4eb2f);
  return (h ^ (h >>> 15)) >>> 0;
}

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
 */
export function datasetCoverage(steps: readonly StepCoverage[], { minimumSteps, referenceSteps }: CoverageOptions) {
  const among = (chosen: readonly number[]) => steps.filter(({ trainingStep }) => chosen.includes(trainingStep));
  const minimum = among(minimumSteps);
  const reference = among(referenceSteps);
  const count = minimum.reduce((sum, { trajectories }) => sum + trajectories, 0);
  const minimumReturn = minimum.reduce((sum, step) => sum + (step.trajectories / count) * step.meanReturn, 0);
  const referenceReturn = Math.max(...reference.map(({ meanReturn }) => meanReturn));
  const referenceUnique = unionOf(reference).unique;
  const seen = new Set<number>();
  let below = HASHES;
  const cumulativeUnique: number[] = [];
  const perStep = steps.map((step) => {
    below = Math.min(below, step.below);
    let [turns, fresh] = [0, 0];
    for (const [hash, made] of step.visits) {
      if (hash >= below) continue;
      turns += made;
      if (!seen.has(hash)) fresh += made;
    }
    for (const [hash] of step.visits) seen.add(hash);
    for (const hash of seen) if (hash >= below) seen.delete(hash);
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
export function rarefiedSaco(step: StepCoverage, reference: readonly StepCoverage[]): number | null {
  const all = unionOf(reference);
  const m = Math.min(step.turns, all.turns);
  const expected = expectedUnique(all.visits, all.turns, m) / (all.below / HASHES);
  const own = expectedUnique(step.visits.map(([, made]) => made), step.turns, m) / (step.below / HASHES); // prettier-ignore
  return expected > 0 ? own / expected : null;
}

function expectedUnique(counts: readonly number[], n: number, m: number): number {
  const all = logGamma(n - m + 1) - logGamma(n + 1);
  return counts.reduce((sum, made) => {
    const isMissed = n - made < m ? 0 : Math.exp(logGamma(n - made + 1) - logGamma(n - made - m + 1) + all);
    return sum + 1 - isMissed;
  }, 0);
}

function unionOf(steps: readonly StepCoverage[]) {
  const below = steps.reduce((least, step) => Math.min(least, step.below), HASHES);
  const made = new Map<number, number>();
  for (const { visits } of steps) {
    for (const [hash, turns] of visits) if (hash < below) made.set(hash, (made.get(hash) ?? 0) + turns);
  }
  const turns = steps.reduce((sum, step) => sum + step.turns, 0);
  return { below, visits: [...made.values()], unique: made.size / (below / HASHES), turns };
}

/** Visits kept per training step: a count of many is right to about 1/√512. */
const KEPT = 512;

interface Figures extends StepCoverage {
  readonly success: number | null;
}

export const datasetCoverageDiagnostic = defineDiagnostic({
  id: 'dataset-coverage',
  version: 1,
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
    return { ...step, success: successRate(trajectories) };
  },

  read(steps, { minimumSteps }) {
    const all = steps.map(({ trainingStep, figures }) => ({ ...figures, trainingStep }));
    const numbersOf = all.map(({ trainingStep }) => trainingStep);
    const found = datasetCoverage(all, { minimumSteps: numbersOf.slice(0, minimumSteps), referenceSteps: numbersOf });
    const { trainingStep: _, ...now } = found.steps.at(-1)!;
    return {
      values: {
        ...now,
        rarefiedSaco: rarefiedSaco(all.at(-1)!, all),
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
  return `${percent(noveltyShare ?? 0)} of the last step's turns do something new, ${figure(Math.round(unique))} different things were done so far${quality}`;
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
