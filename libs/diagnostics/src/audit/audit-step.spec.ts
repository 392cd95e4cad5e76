import { readFileSync } from 'node:fs';
import { numbers, trajectoryBatch, type TrajectoryBatch } from '#lib/dataset';
import { describe, expect, it } from 'vitest';
import { auditStep, type StepAudit } from './audit-step.js';
import { OUTCOME_FORMULAS } from './outcome-formulas.js';
import { TURN_FORMULAS, turnRewards } from './turn-formulas.js';

interface GoldenCase {
  readonly name: string;
  readonly params: {
    readonly claimed: string;
    readonly level: 'trajectory' | 'turn' | 'token';
    readonly gamma?: number;
  };
  readonly trajectories: Parameters<typeof trajectoryBatch>[0];
  readonly expected: Record<string, unknown>;
  readonly tolerance: number;
}

function audit(trajectories: TrajectoryBatch, { claimed, level, gamma = 1 }: GoldenCase['params']): StepAudit {
  const loggedLevel = level === 'token' ? 'token' : 'turn';
  const logged = { level: loggedLevel, values: numbers(trajectories, `${loggedLevel}.loggedAdvantage`)! } as const;
  const claim = { formula: claimed, gamma, ...claimedCredit(trajectories, claimed, gamma) };
  return auditStep(trajectories, claim, logged)!;
}

function claimedCredit(trajectories: TrajectoryBatch, claimed: string, gamma: number) {
  const ofTurns = TURN_FORMULAS.find(({ id }) => id === claimed);
  if (ofTurns) {
    const rewards = turnRewards(trajectories, numbers(trajectories, 'turn.reward')!, gamma);
    return { level: 'turn', advantage: ofTurns.advantage(rewards) } as const;
  }
  const { groupOf, groupCount } = trajectories;
  const reward = Float64Array.from(numbers(trajectories, 'trajectory.outcomeReward')!);
  const outcomes = { reward, groupOf, groupCount, turns: new Float64Array(groupOf.length).fill(1), excluded: null };
  return {
    level: 'trajectory',
    advantage: OUTCOME_FORMULAS.find(({ id }) => id === claimed)!.advantage(outcomes)!,
  } as const;
}

/** An audit under the names of the golden file. */
function named(found: StepAudit): Record<string, unknown> {
  const { explanation, nearest, mask } = found;
  return {
    ...found,
    ...mask,
    formula: explanation?.formula ?? null,
    equallyGood: found.equallyGood.map(({ formula, transform }) => `${formula}/${transform}`).toSorted(),
    relativeError:
      nearest.length > 0 ? Object.fromEntries(nearest.map((near) => [near.formula, near.relativeError])) : null,
  };
}

describe('agrees with its golden vectors', () => {
  const { cases } = JSON.parse(readFileSync('test/golden/diag-advantage-audit.json', 'utf8')) as {
    cases: GoldenCase[];
  };
  it.each(cases)('$name', ({ params, trajectories, expected, tolerance }) => {
    const found = named(audit(trajectoryBatch(trajectories), params));
    const { equallyGood, claimed: _, ...wanted } = expected;
    for (const [name, value] of Object.entries(wanted)) expectNear(found[name], value, tolerance, name);
    if (!Array.isArray(equallyGood)) return;
    const pairs = equallyGood.map((pair: string) => (pair.includes('/') ? pair : `${pair}/identity`));
    expect(found['equallyGood']).toEqual(pairs.toSorted());
  });
});

function expectNear(found: unknown, wanted: unknown, tolerance: number, where: string): void {
  if (typeof wanted === 'number') {
    expect(Math.abs(Number(found) - wanted), `${where}: found ${String(found)}, wanted ${wanted}`).toBeLessThanOrEqual(
      tolerance,
    );
  } else if (wanted !== null && typeof wanted === 'object') {
    expect(Object.keys(found as object), where).toEqual(Object.keys(wanted));
    for (const [key, value] of Object.entries(wanted)) {
      expectNear((found as Record<string, unknown>)[key], value, tolerance, `${where}.${key}`);
    }
  } else expect(found, where).toEqual(wanted);
}
