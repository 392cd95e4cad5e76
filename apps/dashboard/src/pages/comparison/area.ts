import { contains, type Area } from '../../charts/brush.js';
import type { RankedPair } from './matrix-cells.js';

/** What can be chosen without dragging. */
export const QUADRANTS = ['above-above', 'above-below', 'below-above', 'below-below'] as const;
export type Quadrant = (typeof QUADRANTS)[number];

const FAR = 1e12;
const SIDES = { above: [1e-8, FAR], below: [-FAR, -1e-8] } as const;

/** Three digits say where a drag ended as well as it was meant. */
const rounded = (value: number) => Number(value.toPrecision(3));

/**
 * The part of the plane that an address names: `x0,x1,y0,y1`, or a quadrant such as `above-below`.
 *
 * @returns null: none, or nothing that can be read
 */
export function areaOf(text: string | undefined): Area | null {
  const [x, y] = text?.split('-') ?? [];
  if (isSide(x) && isSide(y)) return { x: SIDES[x], y: SIDES[y] };
  const numbers = text?.split(',').map(Number) ?? [];
  if (numbers.length !== 4 || numbers.some((value) => !Number.isFinite(value))) return null;
  const [left, right, bottom, top] = numbers;
  return left <= right && bottom <= top ? { x: [left, right], y: [bottom, top] } : null;
}

export function areaText({ x, y }: Area): string {
  return [...x, ...y].map(rounded).join(',');
}

function isSide(text: string | undefined): text is keyof typeof SIDES {
  return text === 'above' || text === 'below';
}

interface Columns {
  /** [points] */
  readonly x: Float64Array;
  /** [points] */
  readonly y: Float64Array;
}

/** How far one estimator spreads, to measure both by the same. */
interface Spreads {
  readonly x: number;
  readonly y: number;
}

/** Points of an area, those first on which the two differ most in spreads of their own. */
export function pointsIn({ x, y }: Columns, area: Area, spreads: Spreads): number[] {
  const apart = (point: number) => Math.abs(x[point] / spreads.x - y[point] / spreads.y);
  return Array.from(x.keys())
    .filter((point) => contains(area, [x[point], y[point]]))
    .sort((a, b) => apart(b) - apart(a) || a - b);
}

/** The two that agree least, where nobody chose; null: there are no two. */
export function leastAgreeing(ids: readonly string[], pairs: readonly RankedPair[]): readonly [string, string] | null {
  if (ids.length < 2) return null;
  const known = pairs.filter(({ spearman }) => spearman !== null).sort((a, b) => a.spearman! - b.spearman!);
  const [least] = known;
  return least ? [least.a, least.b] : [ids[0], ids[1]];
}
