import type { RunOfTrajectory, Turn } from './queries.js';

/** How one estimator's credit, or a truth, is drawn beside the turns. */
export interface Lane {
  readonly name: string;
  readonly isTruth: boolean;
  /** the number that fills half the lane; null: not known, so the largest of the trajectory fills it */
  readonly full: number;
  readonly valueOf: (turn: Turn) => number | null;
}

/** Truths that a trainer may have logged beside its rewards. */
const TRUTHS = new Set(['exactAdvantage', 'humanLabel']);
/** Half a lane is so many spreads of the estimator: what is stronger is rare and drawn as full. */
export const FULL_SPREADS = 2;

/**
 * One lane per truth that the run carries and per estimator of the analysis. An estimator is drawn in units of its own
 * spread over the analysis, since their scales differ tenfold; a truth by its largest value in the run.
 */
export function lanesOf(run: RunOfTrajectory, analysisId: string | null, turns: readonly Turn[]): Lane[] {
  const analysis = run.analyses.edges.find(({ node }) => node.id === analysisId)?.node;
  const spreads = new Map(analysis?.comparison?.estimators.map(({ id, std }) => [id, std]));
  const truths = run.signals
    .filter(({ level, name }) => level === 'turn' && TRUTHS.has(name))
    .map(({ name, minimum, maximum }): Lane => {
      const valueOf = (turn: Turn) => numberOf((turn.signals as Record<string, unknown> | null)?.[name]);
      const full = Math.max(Math.abs(minimum ?? 0), Math.abs(maximum ?? 0)) || largest(turns, valueOf);
      return { name, isTruth: true, full, valueOf };
    });
  const estimators = (analysis?.estimators ?? []).map(({ label }): Lane => {
    const valueOf = (turn: Turn) => turn.credit?.find(({ estimator }) => estimator === label)?.credit ?? null;
    const spread = spreads.get(label);
    return { name: label, isTruth: false, full: spread ? FULL_SPREADS * spread : largest(turns, valueOf), valueOf };
  });
  return [...truths, ...estimators];
}

function largest(turns: readonly Turn[], valueOf: Lane['valueOf']): number {
  return turns.reduce((most, turn) => Math.max(most, Math.abs(valueOf(turn) ?? 0)), 0) || 1;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** Share of the half lane, -1 … 1. */
export function shareOf({ full, valueOf }: Lane, turn: Turn): number | null {
  const value = valueOf(turn);
  return value === null ? null : Math.min(1, Math.max(-1, value / full));
}
