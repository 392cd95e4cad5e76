/** What stands where there is no number. */
export const NOTHING = '–';
const NOT_DATED = 'not dated';

const counts = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** 2454 as 2,454. */
export function count(value: number | null | undefined): string {
  return isNumber(value) ? counts.format(value) : NOTHING;
}

/** `1 run`, `2,454 turns`. */
export function counted(value: number | null | undefined, singular: string, plural = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : plural}`;
}

/** A fixed number of digits after the point, with a true minus sign and never -0. */
export function decimal(value: number | null | undefined, digits = 2): string {
  if (!isNumber(value)) return NOTHING;
  const text = value.toFixed(digits);
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text.replace('-', '−');
}

/** A number of unknown size in four digits: 0.4200, 12.30, 1.2e-7. */
export function compact(value: number | null | undefined): string {
  if (!isNumber(value)) return NOTHING;
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value).replace('-', '−');
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(1) : value.toPrecision(4);
  return text.replaceAll('-', '−');
}

/** 0.524 as 52 %. */
export function percent(value: number | null | undefined): string {
  return isNumber(value) ? `${Math.round(value * 100)} %` : NOTHING;
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${power === 0 ? value : (value / 1000 ** power).toFixed(1)} ${units[power]}`;
}

/** 8 s, 3 min 20 s, 2 h 5 min. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
}

/** 2026-11-21 13:50, in UTC; what a source without times was given says so. */
export function instant(value: string | null | undefined): string {
  if (value && Date.parse(value) === 0) return NOT_DATED;
  return value ? new Date(value).toISOString().slice(0, 16).replace('T', ' ') : NOTHING;
}

function isNumber(value: number | null | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** `version 2`, or of a user's own estimator the version of its file. */
export function versionText({ version, hash }: { readonly version: number; readonly hash?: string | null }): string {
  return `version ${hash ?? version}`;
}
