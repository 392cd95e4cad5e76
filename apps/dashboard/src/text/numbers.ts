const grouped = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
/** Of a number this large nobody reads a third digit. */
const thousands = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const MINUS = '−';
const NONE = '–';
/** What rounding left of 0. */
const NEGLIGIBLE = 1e-12;

/** 43,336 */
export function count(value: number | null | undefined): string {
  return value == null ? NONE : signed(grouped.format(value));
}

/** 65.7 % */
export function percent(share: number | null | undefined, digits = 1): string {
  return share == null ? NONE : `${signed((share * 100).toFixed(digits))} %`;
}

/** Fixed digits, so that columns align; what is too small or too large for them in powers of ten. */
export function decimal(value: number | null | undefined, digits = 3): string {
  if (value == null) return NONE;
  const size = Math.abs(value);
  if (size < NEGLIGIBLE) return (0).toFixed(digits);
  if (size >= 1e6 || size < 0.5 * 10 ** -digits) return signed(value.toExponential(1));
  if (size >= 1000) return signed(thousands.format(value));
  return signed(value.toFixed(digits));
}

/** With its sign: credit is above or below. */
export function credit(value: number | null | undefined, digits = 3): string {
  if (value == null) return NONE;
  return value >= NEGLIGIBLE ? `+${decimal(value, digits)}` : decimal(value, digits);
}

/** 0.043 s, 8.1 s, 1 min 20 s */
export function seconds(value: number | null | undefined): string {
  if (value == null) return NONE;
  if (value >= 60) return duration(value);
  return `${value.toFixed(value < 1 ? 3 : 1)} s`;
}

/** 1 min 20 s */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

const STEPS: readonly (readonly [number, Intl.RelativeTimeFormatUnit])[] = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [365, 'day'],
  [Infinity, 'year'],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** "2 min. ago"; what a source without times was given says so. */
export function ago(instant: string | null | undefined, now: number): string {
  if (instant == null) return NONE;
  const then = Date.parse(instant);
  if (then === 0) return 'not dated';
  let passed = Math.min(0, (then - now) / 1000);
  if (passed > -5) return 'just now';
  for (const [size, unit] of STEPS) {
    if (Math.abs(passed) < size) return relative.format(Math.round(passed), unit);
    passed /= size;
  }
  return NONE;
}

/** 1 group, 2 groups */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

function signed(text: string): string {
  return text.replaceAll('-', MINUS).replace('e+', 'e');
}
