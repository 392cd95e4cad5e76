import { count } from '../sentences.js';
import type { StepAudit, Verdict, WorstRow } from './audit-step.js';
import type { Explanation } from './explain.js';
import type { MaskVerdict } from './token-mask.js';
import type { TurnPattern } from './logged-outcome.js';

/** What the training steps of a run have in common: one verdict with one explanation. */
export interface Finding {
  readonly verdict: Verdict;
  /** null: nothing that we know of gives these numbers */
  readonly formula: string | null;
  readonly transform: Explanation['transform'] | null;
  readonly turnPattern: TurnPattern | null;
  readonly mask: MaskVerdict | null;
  readonly trainingSteps: number;
  readonly firstStep: number;
  readonly lastStep: number;
  /** at least three training steps agree */
  readonly isStable: boolean;
  /** what fits equally well in every one of these steps: not distinguishable on this data */
  readonly equallyGood: readonly string[];
  /** estimators of the catalogue that give these numbers in every one of these steps, where no formula explains them */
  readonly otherEstimators: readonly string[];
  /** the greatest share of rows in a step on which the claimed formula gives another number */
  readonly mismatchShare: number;
  /** rows that are furthest off, of the step with the greatest share */
  readonly worst: readonly (WorstRow & { readonly trainingStep: number })[];
}

/** The audit of a run. */
export interface RunAudit {
  readonly trainingSteps: number;
  /** audited: something was logged and the claim could be recomputed */
  readonly audited: number;
  /** null: no step was audited */
  readonly matchShare: number | null;
  /** most steps first; a correct trainer has one, `match` */
  readonly findings: readonly Finding[];
  /** steps from which on another finding holds: a change of configuration, a resume */
  readonly changes: readonly {
    readonly trainingStep: number;
    readonly verdict: Verdict;
    readonly formula: string | null;
  }[];
  /** the verdict in one sentence */
  readonly sentence: string;
}

/** One training step; null: nothing was logged there. */
export interface StepToCount {
  readonly trainingStep: number;
  readonly audit: StepAudit | null;
  readonly otherEstimators?: readonly string[];
}

const STABLE = 3;

/**
 * Counts the verdicts of training steps and says where they change.
 *
 * @param steps ascending; null: nothing was logged there
 */
export function runAudit(steps: readonly StepToCount[], claimed: string): RunAudit {
  const audited = steps.flatMap(({ trainingStep, audit, otherEstimators = [] }) =>
    audit ? [{ trainingStep, audit, otherEstimators }] : [],
  );
  const findings = [...Map.groupBy(audited, ({ audit }) => nameOf(audit)).values()]
    .map(findingOf)
    .sort((a, b) => b.trainingSteps - a.trainingSteps);
  const matches = audited.filter(({ audit }) => isSound(audit)).length;
  return {
    trainingSteps: steps.length,
    audited: audited.length,
    matchShare: audited.length > 0 ? matches / audited.length : null,
    findings,
    changes: audited
      .filter(({ audit }, i) => i > 0 && nameOf(audit) !== nameOf(audited[i - 1].audit))
      .map(({ trainingStep, audit }) => ({
        trainingStep,
        verdict: audit.verdict,
        formula: audit.explanation?.formula ?? null,
      })),
    sentence: sentenceOf(audited.length, findings, claimed),
  };
}

type AuditedStep = StepToCount & { readonly audit: StepAudit; readonly otherEstimators: readonly string[] };

const nameOf = ({ verdict, explanation, turnPattern, mask }: StepAudit) =>
  JSON.stringify([verdict, explanation?.formula, explanation?.transform, turnPattern, mask?.maskVerdict]);

const isSound = ({ verdict, mask }: StepAudit) => verdict === 'match' && (!mask || mask.maskVerdict === 'mask-ok');

function findingOf(steps: readonly AuditedStep[]): Finding {
  const furthest = steps.reduce((most, step) => (step.audit.mismatchShare > most.audit.mismatchShare ? step : most));
  const { verdict, explanation, turnPattern, mask, mismatchShare, worst } = furthest.audit;
  return {
    verdict,
    formula: explanation?.formula ?? null,
    transform: explanation?.transform ?? null,
    turnPattern,
    mask: mask?.maskVerdict ?? null,
    trainingSteps: steps.length,
    firstStep: steps[0].trainingStep,
    lastStep: steps.at(-1)!.trainingStep,
    isStable: steps.length >= STABLE,
    equallyGood: inAll(steps.map(({ audit }) => audit.equallyGood.map(nameOfExplanation))),
    otherEstimators: inAll(steps.map(({ otherEstimators }) => otherEstimators)),
    mismatchShare,
    worst: worst.map((row) => ({ trainingStep: furthest.trainingStep, ...row })),
  };
}

function inAll([first, ...rest]: readonly (readonly string[])[]): string[] {
  return first.filter((name) => rest.every((names) => names.includes(name)));
}

const nameOfExplanation = ({ formula, transform }: Explanation) =>
  transform === 'identity' ? formula : `${formula}, ${transform}`;

function sentenceOf(audited: number, findings: readonly Finding[], claimed: string): string {
  if (audited === 0) return 'no advantage was logged, or the claim could not be recomputed: nothing to audit';
  const [main] = findings;
  const share =
    main.trainingSteps === audited ? `all ${count(audited)}` : `${count(main.trainingSteps)} of ${count(audited)}`;
  const on = audited === 1 ? 'on the one audited training step' : `on ${share} audited training steps`;
  const really = main.otherEstimators.length > 0 ? `; they are those of ${main.otherEstimators.join(' or ')}` : '';
  const masked = main.mask && main.mask !== 'mask-ok' ? `; the token mask is wrong: ${main.mask}` : '';
  switch (main.verdict) {
    case 'match':
      return `the logged advantages are those of ${claimed} ${on}${masked}`;
    case 'zeroed-turns':
      return `the logged advantages are those of ${claimed}, but kept on ${wordsOf(main.turnPattern)} only, ${on}`;
    case 'other-formula':
    case 'other-order':
      return `the logged advantages are not those of ${claimed} but of ${nameOfExplanation({ formula: main.formula!, transform: main.transform!, detail: {} })} ${on}${masked}`;
    case 'all-zero':
      return `every logged advantage is 0 ${on}`;
    case 'varies-within-trajectory':
      return really
        ? `the logged advantages are not those of ${claimed} ${on}${really}`
        : `the logged advantages vary inside a trajectory, where ${claimed} gives one number: another term is in them, ${on}`;
    case 'unexplained':
      return `the logged advantages are not those of ${claimed} ${on}${really || '; no formula we know explains them'}`;
    default:
      return `the logged advantages are those of ${claimed}, ${main.verdict}, ${on}${masked}`;
  }
}

const wordsOf = (pattern: TurnPattern | null) =>
  (pattern ?? 'some-turns').replace('only-', 'the ').replaceAll('-', ' ');
