interface Point {
  readonly trainingStep: number;
  readonly value: number | null;
}

/**
 * Thins a curve to at most `limit` points: of each stretch its lowest and its highest value are kept, so that no peak
 * disappears, and the first and the last point of all.
 */
export function decimate<P extends Point>(points: readonly P[], limit: number): readonly P[] {
  if (points.length <= limit) return points;
  if (limit < 4) return points.slice(points.length - limit);
  const stretches = Math.floor((limit - 2) / 2);
  const inner = points.length - 2;
  const kept: P[] = [points[0]];
  for (let i = 0; i < stretches; i++) {
    const from = 1 + Math.floor((i * inner) / stretches);
    const to = 1 + Math.floor(((i + 1) * inner) / stretches);
    kept.push(...extremes(points, from, to));
  }
  kept.push(points.at(-1)!);
  return kept;
}

function extremes<P extends Point>(points: readonly P[], from: number, to: number): P[] {
  let low = from;
  let high = from;
  for (let i = from; i < to; i++) {
    const value = points[i].value;
    if (value === null) continue;
    if (points[low].value === null || value < points[low].value!) low = i;
    if (points[high].value === null || value > points[high].value!) high = i;
  }
  if (low === high) return [points[low]];
  return low < high ? [points[low], points[high]] : [points[high], points[low]];
}
