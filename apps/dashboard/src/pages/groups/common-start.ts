/** How many characters all texts begin with, up to a word's beginning; 0 for fewer than two. */
export function commonStart(texts: readonly string[]): number {
  if (texts.length < 2) return 0;
  const [first, ...rest] = texts;
  let length = 0;
  while (length < first.length && rest.every((text) => text[length] === first[length])) length++;
  return first.slice(0, length).lastIndexOf(' ') + 1;
}
