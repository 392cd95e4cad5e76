import { MAX_SKETCH, type TokenColumns, type Turn } from './fields.js';
import type { RunEvent } from './run.events.js';
import { overflowingToken, tokenCount, tokenNumbers } from './tokens.js';
import { shown } from './issues.js';
import type { Issue } from './validators.js';

type CheckpointEvent = Pick<Extract<RunEvent, { type: 'checkpoint.recorded' }>, 'sketch' | 'tensors'>;

/** What JSON Schema cannot say of one event. */
export function contentIssue(event: RunEvent): Issue | null {
  switch (event.type) {
    case 'turn.recorded':
      return event.tokens ? tokensIssue(event.tokens, '/tokens') : null;
    case 'trajectory.recorded':
      return turnsIssue(event.turns);
    case 'checkpoint.recorded':
      return sketchIssue(event);
    case 'run.started':
    case 'trainingStep.recorded':
    case 'trajectory.ended':
    case 'annotation.recorded':
    case 'run.rewound':
    case 'run.ended':
    case 'analysis.requested':
    case 'analysis.completed':
    case 'alert.opened':
    case 'alert.closed':
    case 'run.erased':
      return null;
  }
}

/** What JSON Schema cannot say of the turns of a trajectory. */
export function turnsIssue(turns: readonly Turn[]): Issue | null {
  for (let i = 0; i < turns.length; i++) {
    const issue = turns[i].tokens ? tokensIssue(turns[i].tokens!, `/turns/${i}/tokens`) : null;
    if (issue) return issue;
  }
  return null;
}

function tokensIssue(tokens: TokenColumns, pointer: string): Issue | null {
  let first: { name: string; count: number } | null = null;
  for (const [name, column] of Object.entries(tokens)) {
    const issue = columnIssue(column, `${pointer}/${name}`);
    if (issue) return issue;
    const count = tokenCount(column);
    first ??= { name, count };
    if (count !== first.count) {
      return {
        pointer: `${pointer}/${name}`,
        expected: `${first.count} entries, as ${first.name} has (one per token)`,
        found: `${count}`,
      };
    }
  }
  return null;
}

/** What JSON Schema cannot say of a sketch of parameters: that it holds numbers, divided among its tensors without a rest. */
export function sketchIssue({ sketch, tensors }: CheckpointEvent): Issue | null {
  const issue = columnIssue(sketch, '/sketch');
  if (issue) return issue;
  const numbers = tokenNumbers(sketch);
  if (!numbers) return { pointer: '/sketch', expected: 'numbers', found: shown(sketch) };
  if (numbers.length > MAX_SKETCH) {
    return { pointer: '/sketch', expected: `up to ${MAX_SKETCH} numbers`, found: `${numbers.length}` };
  }
  if (!tensors) return null;
  const divided = tensors.reduce((sum, { size }) => sum + size, 0);
  if (divided !== numbers.length) {
    const expected = `sizes that add up to the ${numbers.length} numbers of the sketch`;
    return { pointer: '/tensors', expected, found: `${divided}` };
  }
  const names = new Set<string>();
  const twice = tensors.findIndex(({ name }) => names.size === names.add(name).size);
  if (twice < 0) return null;
  return { pointer: `/tensors/${twice}/name`, expected: 'each name once', found: shown(tensors[twice].name) };
}

function columnIssue(column: TokenColumns[string], pointer: string): Issue | null {
  if (Array.isArray(column)) return overflowIssue(column, pointer);
  if (Number.isNaN(tokenCount(column))) {
    return { pointer, expected: 'base64 of whole little-endian floats', found: shown(column) };
  }
  const infinite = tokenNumbers(column)!.findIndex((x) => x === Infinity || x === -Infinity);
  return infinite < 0 ? null : { pointer: `${pointer}/${infinite}`, expected: 'a finite number', found: 'Infinity' };
}

/** Token numbers are kept as float32: what none can hold would silently become infinite. */
function overflowIssue(tokens: readonly unknown[], pointer: string): Issue | null {
  const at = overflowingToken(tokens);
  if (at < 0) return null;
  return { pointer: `${pointer}/${at}`, expected: 'a number that fits into a float32', found: shown(tokens[at]) };
}
