/** What an audit found, as the API's JSON has it: see Audit.result. */
export interface AuditResult {
  readonly trainingSteps: number;
  readonly audited: number;
  readonly matchShare: number | null;
  readonly findings: readonly Finding[];
  readonly changes: readonly {
    readonly trainingStep: number;
    readonly verdict: string;
    readonly formula: string | null;
  }[];
  readonly sentence: string;
  readonly notRecomputed: { readonly trainingSteps: number; readonly text: string } | null;
}

/** What training steps have in common: one verdict with one explanation. */
export interface Finding {
  readonly verdict: string;
  readonly formula: string | null;
  readonly transform: string | null;
  readonly turnPattern: string | null;
  readonly mask: string | null;
  readonly trainingSteps: number;
  readonly firstStep: number;
  readonly lastStep: number;
  readonly isStable: boolean;
  readonly equallyGood: readonly string[];
  readonly otherEstimators: readonly string[];
  readonly mismatchShare: number;
  readonly worst: readonly WorstRow[];
}

export interface WorstRow {
  readonly trainingStep: number;
  readonly trajectory: string;
  readonly group: string;
  readonly turn: number | null;
  readonly token: number | null;
  readonly logged: number;
  readonly recomputed: number;
}

/** The advantages are what the trainer says, and its mask is as it should be. */
export function isSound({ verdict, mask }: Pick<Finding, 'verdict' | 'mask'>): boolean {
  return verdict === 'match' && (mask === null || mask === 'mask-ok');
}

/** What the numbers are, in a few words: the formula, and what was done to it. */
export function explanationOf({ formula, transform, turnPattern, mask, otherEstimators }: Finding): string {
  const parts = [
    formula,
    transform === null || transform === 'identity' ? null : transform,
    turnPattern,
    mask === null || mask === 'mask-ok' ? null : mask,
    otherEstimators.length > 0 ? otherEstimators.join(' or ') : null,
  ];
  return parts.filter((part) => part !== null).join(', ') || 'nothing that we know gives these numbers';
}

/** step 3; steps 0 to 59 */
export function stepsText({ firstStep, lastStep }: Pick<Finding, 'firstStep' | 'lastStep'>): string {
  return firstStep === lastStep ? `step ${firstStep}` : `steps ${firstStep} to ${lastStep}`;
}
