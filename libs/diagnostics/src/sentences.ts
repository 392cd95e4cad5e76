/** A share for a sentence: `62 %`, `0.4 %`; never 0 % or 100 % for what is not exactly that. */
export function percent(share: number): string {
  const value = share * 100;
  if (value === 0 || value === 100) return `${value} %`;
  const digits = value < 1 || value > 99 ? 1 : 0;
  const rounded = Number(value.toFixed(digits));
  if (rounded === 0) return '< 0.1 %';
  return rounded === 100 ? '> 99.9 %' : `${rounded} %`;
}

/** A number for a sentence, three digits that matter: `0.0123`, `1.23`, `12,300`. */
export function figure(value: number): string {
  return new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 }).format(value);
}

/** `1 task`, `12 tasks`, `1.5 turns`. */
export function counted(value: number, singular: string): string {
  return `${figure(value)} ${singular}${value === 1 ? '' : 's'}`;
}
