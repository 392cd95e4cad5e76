/** A column that has less room than this is left as it is: the screen may break it where it likes. */
const LEAST_ROOM = 24;

/** A text for a screen: a line that is too long for it goes on below where its last column begins, and a rule is cut off. */
export function fitted(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => (lengthOf(line) <= width ? line : fittedLine(line, width)))
    .join('\n');
}

function fittedLine(line: string, width: number): string {
  if (/^[─ ]+$/.test(line)) return line.slice(0, width).trimEnd();
  // columns are two blanks apart; a line that is one column begins where its own blanks end
  const lastColumn = /^(.*\s{2})?/.exec(line)![0];
  const indent = lengthOf(lastColumn);
  const room = width - indent;
  if (room < LEAST_ROOM) return line;
  const [first, ...rest] = brokenUp(line.slice(lastColumn.length), room);
  return [lastColumn + first, ...rest.map((part) => ' '.repeat(indent) + part)].join('\n');
}

/** Words, as many to a line as fit; a number keeps its unit. */
function brokenUp(text: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/ (?!%)/)) {
    const last = lines.at(-1);
    if (last !== undefined && lengthOf(last) + 1 + lengthOf(word) <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const lengthOf = (text: string) => [...text].length;
