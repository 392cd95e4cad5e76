/** A text that Postgres can hold: what it cannot (NUL, lone surrogates) is shown as U+FFFD. The log keeps the original. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
