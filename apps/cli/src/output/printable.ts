// what a terminal would obey: text of trajectories and names come from outside, and may only ever be shown
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** The text without what a terminal would take for orders. Lines and tabs stay. */
export function printable(text: string): string {
  return text.replace(CONTROLS, '');
}
