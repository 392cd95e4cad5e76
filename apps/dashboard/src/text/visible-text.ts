/**
 * Characters that change how a text looks, or hide in it, without being seen: controls (but line feed and tab), ANSI's
 * escape among them, zero-width and bidirectional ones, byte order marks, tags, and halves of surrogate pairs.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- they are what it looks for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}\p{Surrogate}]/gu;

/** A piece of text; `hidden`: the escape of a character that could not be seen. */
export interface TextPiece {
  readonly text: string;
  readonly hidden: boolean;
}

/** The text with what hides in it written out as escapes: `\u202E`. */
export function visiblePieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of text.replaceAll('\r\n', '\n').matchAll(HIDDEN)) {
    if (match.index > end) pieces.push({ text: match.input.slice(end, match.index), hidden: false });
    pieces.push({ text: escapeOf(match[0]), hidden: true });
    end = match.index + match[0].length;
  }
  const rest = text.replaceAll('\r\n', '\n').slice(end);
  if (rest !== '') pieces.push({ text: rest, hidden: false });
  return pieces;
}

/** The same as one text, where no pieces can be shown: in a chart, a title, a name. */
export function visibleText(text: string): string {
  return visiblePieces(text)
    .map((piece) => piece.text)
    .join('');
}

function escapeOf(character: string): string {
  const hex = character.codePointAt(0)!.toString(16).toUpperCase();
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
