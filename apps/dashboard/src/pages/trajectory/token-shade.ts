import type { RunOfTrajectory, Turn } from './queries.js';

/** What the cells of tokens show: a number that was logged for each of them, or what an estimator says of each. */
export type TokenShade =
  { readonly of: 'signal'; readonly name: string } | { readonly of: 'credit'; readonly name: string };

export interface TokenShades {
  readonly signals: readonly string[];
  /** labels of estimators */
  readonly credits: readonly string[];
}

const CREDIT = 'credit:';
/** Drawn by every cell already. */
const FLAGS = new Set(['mask']);

/** What the tokens of a trajectory can be shaded by. */
export function tokenShades(run: RunOfTrajectory, turns: readonly Turn[]): TokenShades {
  const credits = turns.flatMap(({ credit }) => credit?.filter(({ level }) => level === 'token') ?? []);
  return {
    signals: run.signals.filter(({ level, name }) => level === 'token' && !FLAGS.has(name)).map(({ name }) => name),
    credits: [...new Set(credits.map(({ estimator }) => estimator))],
  };
}

/** As the address has it: the name of a signal, or credit:gae. */
export function shadeText({ of, name }: TokenShade): string {
  return of === 'credit' ? CREDIT + name : name;
}

/** undefined: the tokens are hidden */
export function shadeOf(text: string | undefined): TokenShade | undefined {
  if (!text) return undefined;
  return text.startsWith(CREDIT) ? { of: 'credit', name: text.slice(CREDIT.length) } : { of: 'signal', name: text };
}

/** Whether its sign matters: then zero is marked, and what lies above and below it goes two ways. */
export function isSigned({ of, name }: TokenShade): boolean {
  return of === 'credit' || /(advantage|reward)$/i.test(name);
}
