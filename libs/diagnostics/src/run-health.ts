import type { Alert, AlertLevel } from './alerts.js';
import { DIAGNOSTICS } from './catalogue/index.js';
import type { Reading } from './diagnostic.js';

/** What health and plan are made of: a reading with its alerts. */
export interface HealthInput extends Pick<Reading, 'values' | 'detail'> {
  readonly id: string;
  readonly alerts: readonly Alert[];
}

/** One thing that is wrong with a run. */
export interface HealthLine {
  readonly level: AlertLevel;
  readonly diagnostic: string;
  readonly rule: string;
  /** with its threshold, in one sentence */
  readonly says: string;
  readonly saw: Readonly<Record<string, number>>;
  /** the training step since which it holds */
  readonly since: number;
  /** what usually helps */
  readonly remedy: string;
}

export interface RunHealth {
  /** worst first, then the longest standing */
  readonly lines: readonly HealthLine[];
  /** of a score that does not rise any more, the likeliest first; none: it rises */
  readonly plateauCauses: readonly PlateauCause[];
}

/** In the order in which a cause is looked for. */
export type PlateauCause =
  'saturated' | 'starved' | 'entropy-spent' | 'noise-dominated' | 'off-policy' | 'curriculum' | 'unknown';

const SEVERITY: readonly AlertLevel[] = ['critical', 'warn', 'info'];
const SATURATED = 0.95;
const STARVED = 0.5;
const SPENT = 0.9;
const CEILING = 0.95;
const NOISY = 0.25;
const UNLEARNABLE = 0.7;

/** What is wrong with a run now: its open warnings and critical alerts, and why its score stands still. Source: ours. */
export function runHealth(readings: readonly HealthInput[]): RunHealth {
  const lines = readings.flatMap(({ id, alerts }) => {
    const remedy = DIAGNOSTICS.find((diagnostic) => diagnostic.id === id)?.remedy ?? '';
    return alerts
      .filter(({ closedAt, level }) => closedAt === null && level !== 'info')
      .map(({ level, rule, says, saw, openedAt }) => ({
        level,
        diagnostic: id,
        rule,
        says,
        saw,
        since: openedAt,
        remedy,
      }));
  });
  return {
    lines: lines.sort((a, b) => SEVERITY.indexOf(a.level) - SEVERITY.indexOf(b.level) || a.since - b.since),
    plateauCauses: plateauCauses(readings),
  };
}

function plateauCauses(readings: readonly HealthInput[]): PlateauCause[] {
  const value = (id: string, name: string) => readings.find((reading) => reading.id === id)?.values[name] ?? null;
  const isOpen = (id: string, rules?: readonly string[]) =>
    readings.some(
      (reading) =>
        reading.id === id &&
        reading.alerts.some(({ closedAt, rule }) => closedAt === null && (rules?.includes(rule) ?? true)),
    );
  if (value('learning-plateau', 'plateau') !== 1) return [];
  const atLeast = (number: number | null, limit: number) => number !== null && number >= limit;
  const unlearnable = ['unsolvedShare', 'solvedShare'].map((name) => value('difficulty-bands', name) ?? 0);
  const noise = value('gradient-noise-scale', 'batchOverNoiseScale');
  const found: (readonly [PlateauCause, boolean])[] = [
    ['saturated', atLeast(value('learning-plateau', 'score'), SATURATED)],
    ['starved', atLeast(value('zero-variance-groups', 'groupFraction'), STARVED)],
    [
      'entropy-spent',
      atLeast(value('entropy-trend', 'consumedNow'), SPENT) ||
        atLeast(value('entropy-reward-law', 'ceilingShareReached'), CEILING),
    ],
    ['noise-dominated', (noise !== null && noise < NOISY) || isOpen('path-straightness', ['thrashing'])],
    ['off-policy', isOpen('policy-staleness')],
    ['curriculum', unlearnable[0] + unlearnable[1] >= UNLEARNABLE],
  ];
  const causes = found.filter(([, holds]) => holds).map(([cause]) => cause);
  return causes.length > 0 ? causes : ['unknown'];
}
