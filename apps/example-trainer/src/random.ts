import type { Random } from '#lib/numeric';

export function pick<Value>(random: Random, values: readonly Value[]): Value {
  return values[random.integer(values.length)];
}

/** The values in a new order (Fisher and Yates). */
export function shuffled<Value>(random: Random, values: readonly Value[]): Value[] {
  const order = [...values];
  for (let i = order.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** An index, chosen in proportion to its weight. The weights sum to 1 but for rounding. */
export function draw(random: Random, weights: ArrayLike<number>): number {
  let left = random.next();
  for (let i = 0; i < weights.length - 1; i++) {
    left -= weights[i];
    if (left < 0) return i;
  }
  return weights.length - 1;
}
