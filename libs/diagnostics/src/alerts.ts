import type { StepValues } from './diagnostic.js';

export type AlertLevel = 'info' | 'warn' | 'critical';

export interface Condition {
  readonly value: string;
  readonly op: '<' | '<=' | '>' | '>=';
  readonly limit: number;
}

/** When a diagnostic raises an alert: all conditions hold, in `of` of the last `within` training steps. */
export interface AlertRule {
  /** kebab-case and for ever: an alert's identity is run, diagnostic and rule */
  readonly id: string;
  readonly level: AlertLevel;
  readonly all: readonly Condition[];
  /** observations below which a step neither fires nor clears; default 8 */
  readonly minimum?: number;
  readonly hold?: Partial<Hold>;
  /** what it means, in one sentence */
  readonly says: string;
}

export interface Hold {
  readonly of: number;
  readonly within: number;
  /** clean steps after which it closes */
  readonly clear: number;
}

/** Against flicker (ours). */
export const HOLD: Hold = { of: 3, within: 5, clear: 5 };
const MINIMUM = 8;

/** A stretch of training steps in which a rule stood open; both edges are kept. */
export interface Alert {
  readonly rule: string;
  readonly level: AlertLevel;
  readonly says: string;
  /** the step whose values opened it */
  readonly openedAt: number;
  /** the step whose values closed it; null: still open */
  readonly closedAt: number | null;
  /** the values that the conditions saw when it opened */
  readonly saw: Readonly<Record<string, number>>;
}

/**
 * The alerts that rules raise over the steps of a run: a pure fold, so the same steps give the same alerts.
 *
 * A step counts where it has the minimum of observations and a number for every condition; others are passed over.
 * A rule opens at the step that makes it true in `of` of the last `within` counted steps, and closes after `clear`
 * counted steps in a row in which it is false.
 *
 * @param steps in ascending order
 * @param hold of every rule, before its own
 * @returns in the order of their opening; of one step in the order of the rules
 */
export function alertsOf(steps: readonly StepValues[], rules: readonly AlertRule[], hold: Partial<Hold> = {}): Alert[] {
  return rules
    .flatMap((rule) => alertsOfRule(steps, rule, { ...HOLD, ...rule.hold, ...hold }))
    .sort((a, b) => a.openedAt - b.openedAt);
}

function alertsOfRule(steps: readonly StepValues[], rule: AlertRule, { of, within, clear }: Hold): Alert[] {
  const window = Math.max(of, within);
  const alerts: Alert[] = [];
  let recent: boolean[] = [];
  let isOpen = false;
  for (const step of steps) {
    const saw = seen(step, rule);
    if (!saw) continue;
    const holds = rule.all.every((condition) => isTrue(saw[condition.value], condition));
    recent = [...recent, holds].slice(-Math.max(window, clear));
    if (!isOpen && holds && recent.slice(-window).filter(Boolean).length >= of) {
      isOpen = true;
      alerts.push({ ...named(rule), openedAt: step.trainingStep, closedAt: null, saw });
    } else if (isOpen && recent.length >= clear && !recent.slice(-clear).some(Boolean)) {
      isOpen = false;
      alerts.push({ ...alerts.pop()!, closedAt: step.trainingStep });
    }
  }
  return alerts;
}

const named = ({ id, level, says }: AlertRule) => ({ rule: id, level, says });

/** The numbers the conditions speak of; null where one is undefined or the step is too small to count. */
function seen({ values, observations }: StepValues, { all, minimum = MINIMUM }: AlertRule) {
  if (observations < minimum) return null;
  const saw: Record<string, number> = {};
  for (const { value } of all) {
    const number = values[value];
    if (number === null || number === undefined || !Number.isFinite(number)) return null;
    saw[value] = number;
  }
  return saw;
}

function isTrue(value: number, { op, limit }: Condition): boolean {
  switch (op) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
  }
}
