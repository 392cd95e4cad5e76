/** How strongly a credit is drawn: from faint to full with its share of the strongest. */
export function creditStrength(credit: number, full: number): number {
  return 0.25 + 0.75 * Math.min(1, Math.abs(credit) / full);
}

/** Which of two colours a credit has; '': neither, as it is 0 or nothing is said. */
export function creditSide(credit: number | null): 'above' | 'below' | '' {
  return !credit ? '' : credit > 0 ? 'above' : 'below';
}
