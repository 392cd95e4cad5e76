/** One number per token; null: not said. */
export type TokenColumn = readonly (number | null)[];

/** Of all columns that a turn's tokens carry, those that are numbers, decoded. */
export function tokenColumns(tokens: unknown): Map<string, TokenColumn> {
  const columns = new Map<string, TokenColumn>();
  for (const [name, column] of Object.entries((tokens ?? {}) as Record<string, unknown>)) {
    const numbers = decoded(column);
    if (numbers) columns.set(name, numbers);
  }
  return columns;
}

function decoded(column: unknown): TokenColumn | null {
  if (Array.isArray(column)) {
    return column.every((value) => value === null || typeof value === 'number') ? (column as TokenColumn) : null;
  }
  const { f32, f16 } = (column ?? {}) as { readonly f32?: unknown; readonly f16?: unknown };
  if (typeof f32 === 'string') return floats(f32, 4, (view, at) => view.getFloat32(at, true));
  if (typeof f16 === 'string') return floats(f16, 2, (view, at) => halfFloat(view.getUint16(at, true)));
  return null;
}

function floats(base64: string, size: number, read: (view: DataView, at: number) => number): TokenColumn {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, i) => {
    const value = read(view, i * size);
    return Number.isNaN(value) ? null : value;
  });
}

/** IEEE 754 binary16. */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
