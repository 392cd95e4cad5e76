import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { BenchRow } from './bench-row.js';
import type { Benchmark, BenchOptions } from './benchmark.js';

const KINDS = ['recompute', 'ingest', 'project', 'rebuild'] as const;
export type GrowthKind = (typeof KINDS)[number];

/** What a process of its own found. */
export interface Grown {
  readonly seconds: number;
  readonly peakMiB: number;
}

/**
 * Time and peak memory at so many turns, twice, four times and eight times as many, each in a process of its own. The ratio of a
 * row is against half its size: at most 2.1 for time, about 1 for memory.
 */
export const growth: Benchmark = {
  name: 'growth',
  async run({ turns = 500_000 }: BenchOptions = {}) {
    const rows: BenchRow[] = [];
    for (const kind of KINDS) {
      let before: { readonly name: string; readonly grown: Grown } | null = null;
      for (const size of [turns, turns * 2, turns * 4, turns * 8]) {
        const grown = await measured(kind, size);
        const name = `${kind} ${(size / 1e6).toFixed(2)} M turns`;
        const yardstick = before?.name ?? name;
        const [time, memory]: [number, number] = [grown.seconds, grown.peakMiB];
        const base = before?.grown ?? grown;
        rows.push(
          { name, value: round(time), unit: 's', yardstick, ratio: time / base.seconds },
          {
            name: `${name}, peak memory`,
            value: Math.round(memory),
            unit: 'MiB',
            yardstick,
            ratio: memory / base.peakMiB,
          },
        );
        before = { name, grown };
      }
    }
    return rows;
  },
};

const round = (seconds: number) => Math.round(seconds * 100) / 100;

async function measured(kind: GrowthKind, turns: number): Promise<Grown> {
  const child = fork(new URL('./growth-child.js', import.meta.url), [kind, String(turns)]);
  const ended = once(child, 'exit');
  const [grown] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  await ended;
  if (typeof grown !== 'object') throw new Error(`${kind} of ${turns} turns ended without an answer`);
  return grown as Grown;
}
