import {
  laterTexts,
  type Level,
  type SignalColumn,
  type SignalPath,
  type Texts,
  type TrajectoryBatch,
} from '#lib/dataset';
import { openArrowFile, orDamaged } from './arrow-file.js';
import {
  columnNamed,
  columnsOf,
  doublesOf,
  intsOf,
  keyedHashesOf,
  keyCountOf,
  keyedTextsOf,
  keysOf,
  listOf,
  textsOf,
  type ReadColumn,
  type ReadColumns,
} from './read-columns.js';
import { NUMERIC_FORMAT, OWN_COLUMNS, TEXT_FORMAT } from './segment-layout.js';
import { signalsAmong } from './signal-columns.js';

/** The rows of one training step inside a segment. */
export interface SegmentStep {
  readonly trainingStep: number;
  readonly firstRow: number;
  readonly rowCount: number;
}

/** A segment in memory. Its typed arrays view the bytes it was opened from: nobody writes to them. */
export interface Segment {
  /** texts, and signals that are no numbers, only where the text file was given */
  readonly trajectories: TrajectoryBatch;
  /** [trajectories] position of the event that ended it */
  readonly endPosition: Float64Array;
  /** [trajectories] id of the parent as the trainer said it; the parent may lie in another segment */
  readonly parents: readonly (string | null)[];
  /** [distinct states] `textHashes` of each: what makes the keys of two segments comparable */
  readonly stateHashes: BigUint64Array;
  /** [distinct actions] */
  readonly actionHashes: BigUint64Array;
  /** ascending */
  readonly steps: readonly SegmentStep[];
}

interface Levels {
  readonly trajectory: ReadColumns;
  readonly turn: ReadColumns;
  readonly token: ReadColumns;
  readonly turnOffsets: Int32Array;
  readonly tokenOffsets: Int32Array;
  /** the values of tokens are there */
  readonly hasTokens: boolean;
}

/**
 * Opens the files of `encodeSegment`. The numeric file alone serves whatever reads no text. Numbers are views, and a
 * column of texts is decoded when its values are first asked for: what nobody reads costs nothing but its bytes. Of files whose
 * heads alone were read (`readHead`) the trajectories lack the values of tokens, and asking for those throws.
 *
 * @throws RecreditError `segment.damaged`
 */
export function openSegment(numeric: Uint8Array, text?: Uint8Array): Segment {
  const numbers = openLevels(NUMERIC_FORMAT, numeric);
  const texts = text && openLevels(TEXT_FORMAT, text);
  return orDamaged('segment', () => {
    if (texts) assertSameRows(numbers, texts);
    const own = (name: string) => columnNamed(numbers.trajectory, name);
    const state = columnNamed(numbers.turn, 'state');
    const action = columnNamed(numbers.turn, 'action');
    const trainingStep = intsOf(own('trainingStep'));
    const ids = textsOf(own('id')) as string[];
    const [stateHashes, actionHashes] = [keyedHashesOf(state), keyedHashesOf(action)];
    const dictionary = texts && textsOfKeys(texts, stateHashes, actionHashes);
    const trajectories: TrajectoryBatch = {
      ids,
      ...groupsOf(intsOf(own('groupKey'), [0, Math.max(ids.length, 1)]), own('group')),
      trainingStep,
      parentOf: intsOf(own('parentRow'), [-1, ids.length]),
      parentTurn: intsOf(own('parentTurn')),
      turnOffsets: numbers.turnOffsets,
      tokenOffsets: numbers.tokenOffsets,
      stateKey: keysOf(state),
      actionKey: keysOf(action),
      columns: new Map([...signalsOf(numbers), ...(texts ? signalsOf(texts) : [])]),
      texts: dictionary ?? null,
    };
    return {
      trajectories,
      endPosition: doublesOf(own('endPosition')),
      parents: textsOf(own('parent')),
      stateHashes,
      actionHashes,
      steps: stepsOf(trainingStep),
    };
  });
}

function openLevels(format: string, bytes: Uint8Array): Levels {
  const { root, isHead } = openArrowFile(format, bytes);
  return orDamaged(`Arrow file ${format}`, () => {
    const trajectory = columnsOf(root);
    const turns = listOf(columnNamed(trajectory, 'turns'));
    const tokenColumn = turns.columns.get('tokens');
    const tokens = tokenColumn && listOf(tokenColumn);
    const turnCount = turns.offsets[turns.offsets.length - 1];
    return {
      trajectory,
      turn: turns.columns,
      token: tokens?.columns ?? new Map(),
      turnOffsets: turns.offsets,
      tokenOffsets: tokens?.offsets ?? offsetsOfNone(turnCount),
      hasTokens: !isHead,
    };
  });
}

/** The two files of a segment speak of the same rows. */
function assertSameRows(numbers: Levels, texts: Levels): void {
  const tokens = texts.turn.has('tokens') ? texts.tokenOffsets : numbers.tokenOffsets;
  if (!areEqual(numbers.turnOffsets, texts.turnOffsets) || !areEqual(numbers.tokenOffsets, tokens)) {
    throw new Error('its text file has other turns than its numeric file');
  }
}

function areEqual(a: Int32Array, b: Int32Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Offsets of empty lists, which all that have no token share. */
let noTokens = new Int32Array(2 ** 10);

function offsetsOfNone(lists: number): Int32Array {
  if (lists >= noTokens.length) noTokens = new Int32Array(2 * lists);
  return noTokens.subarray(0, lists + 1);
}

/** The texts that the keys of the numeric file mean, decoded when they are asked for. */
function textsOfKeys({ turn }: Levels, stateHashes: BigUint64Array, actionHashes: BigUint64Array): Texts {
  const [state, action] = [columnNamed(turn, 'state'), columnNamed(turn, 'action')];
  if (keyCountOf(state) !== stateHashes.length || keyCountOf(action) !== actionHashes.length) {
    throw new Error('its text file has other texts than its numeric file');
  }
  const decoded = (column: ReadColumn) => () => orDamaged('segment', () => keyedTextsOf(column));
  return laterTexts(decoded(state), decoded(action), () => ({
    states: wordsOf(stateHashes),
    actions: wordsOf(actionHashes),
  }));
}

/** A view of the hashes by their words, as `textHashes` gives them. */
export const wordsOf = ({ buffer, byteOffset, length }: BigUint64Array) =>
  new Uint32Array(buffer, byteOffset, 2 * length);

function groupsOf(groupOf: Int32Array, names: ReadColumn) {
  const [texts, keys] = [keyedTextsOf(names), keysOf(names)];
  const groups: string[] = [];
  for (let row = 0; row < groupOf.length; row++) {
    if (groupOf[row] > groups.length) throw new Error(`groupKey says ${groupOf[row]} before ${groups.length}`);
    if (groupOf[row] === groups.length) groups.push(keys[row] < 0 ? '' : texts[keys[row]]);
  }
  return { groupOf, groups, groupCount: groups.length };
}

function signalsOf(levels: Levels): [SignalPath, SignalColumn][] {
  const at = (level: Level) =>
    signalsAmong(levels[level], OWN_COLUMNS[level], level !== 'token' || levels.hasTokens).map(
      ([name, column]): [SignalPath, SignalColumn] => [`${level}.${name}`, column],
    );
  return [...at('trajectory'), ...at('turn'), ...at('token')];
}

function stepsOf(trainingStep: Int32Array): SegmentStep[] {
  const steps: SegmentStep[] = [];
  for (let row = 0, end = 0; row < trainingStep.length; row = end) {
    while (end < trainingStep.length && trainingStep[end] === trainingStep[row]) end++;
    if (row > 0 && trainingStep[row] < trainingStep[row - 1]) throw new Error(`trainingStep falls at row ${row}`);
    steps.push({ trainingStep: trainingStep[row], firstRow: row, rowCount: end - row });
  }
  return steps;
}
