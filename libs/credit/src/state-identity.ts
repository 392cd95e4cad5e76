import type { Texts, TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import { pairLabels } from '#lib/numeric';
import { z } from 'zod';
import type { AnyEstimator } from './estimator.js';
import { isGenericState } from './generic-states.js';
import { signalValues } from './signal-kinds.js';
import { similarKeys } from './state-groups.js';

/** As gigpo's own default. */
const DEFAULT_THRESHOLD = 0.95;

/** When two turns of a group started from the same state. A choice of the analysis, the same for all its estimators. */
export const StateIdentity = z
  .discriminatedUnion('by', [
    /** the states as they were recorded are equal */
    z.strictObject({ by: z.literal('lastObservation'), excludeGeneric: z.boolean().default(false) }),
    /** so are the actions that led to them */
    z.strictObject({ by: z.literal('actionObservation'), excludeGeneric: z.boolean().default(false) }),
    /** so is everything seen and done before */
    z.strictObject({ by: z.literal('fullHistory'), excludeGeneric: z.boolean().default(false) }),
    /** they resemble the first of their kind: `ratio >= threshold` */
    z.strictObject({
      by: z.literal('similarity'),
      threshold: z.number().gt(0).lt(1).default(DEFAULT_THRESHOLD),
      excludeGeneric: z.boolean().default(false),
    }),
    /** the cosine of their embeddings with the first of their kind is `>= threshold`: compared on a device, not here */
    z.strictObject({
      by: z.literal('embedding'),
      threshold: z.number().gt(0).lt(1).default(DEFAULT_THRESHOLD),
      excludeGeneric: z.boolean().default(false),
    }),
  ])
  .describe('what counts as the same state');
export type StateIdentity = z.infer<typeof StateIdentity>;

/** States as they were recorded: what holds where nothing is chosen. */
export const AS_RECORDED: StateIdentity = { by: 'lastObservation', excludeGeneric: false };

export const isAsRecorded = ({ by, excludeGeneric }: StateIdentity) => by === 'lastObservation' && !excludeGeneric;

/** Whether an estimator gives other numbers when other turns count as the same state. */
export function readsStates({ requires, accepts, conditional = [] }: AnyEstimator): boolean {
  const more = conditional.flatMap((needs) => [...(needs.requires ?? []), ...(needs.accepts ?? [])]);
  return [...requires, ...accepts, ...more].includes('turn.state');
}

/** What an answer says of the identity: nothing where it is as recorded, or the estimator reads no states. */
export function statesOf(estimator: AnyEstimator, identity: StateIdentity): { readonly states?: StateIdentity } {
  return isAsRecorded(identity) || !readsStates(estimator) ? {} : { states: identity };
}

/** Whether what lies with the texts (texts of states and actions, embeddings) must be loaded for it. */
export const comparesTexts = ({ by, excludeGeneric }: StateIdentity) =>
  by === 'similarity' || by === 'embedding' || excludeGeneric;

/**
 * The trajectories with `stateKey` equal where states are the same by this identity, and with it `finalKey`, the key of the
 * state after the last turn. A generic state, where these are excluded, is the same as no other; where no state was said it
 * stays unsaid. A key's text is that of the first turn that has it.
 *
 * @param trajectories with texts where `comparesTexts`
 * @param embedded [states in order] labels by embedding, -1: not said; for an identity by embedding
 */
export function identifyStates(
  trajectories: TrajectoryBatch,
  identity: StateIdentity,
  embedded?: Int32Array,
): TrajectoryBatch {
  if (isAsRecorded(identity)) return trajectories;
  const rows = statesInOrder(trajectories);
  const keys = keysOf(rows, identity, embedded);
  const { excludeGeneric } = identity;
  const count = excludeGeneric ? apartWhereGeneric(rows, keys) : maxOf(keys) + 1;
  return { ...trajectories, ...placed(trajectories, rows, keys, count) };
}

/** Trajectories with equal keys where states are the same, where something else than the processor may have compared them. */
export interface IdentifiedStates {
  readonly trajectories: TrajectoryBatch;
  /** what compared them; none: the processor */
  readonly device?: string;
  readonly warnings: readonly string[];
}

/** Every state that was seen, final ones too, in the order of the batch: row i's turns, then its end. */
export interface StateRows {
  /** [states] */
  readonly group: Int32Array;
  /** [states] key of its text; -1: not said */
  readonly text: Int32Array;
  /** [states] key of the action that led to it; 0: none, the first of its trajectory */
  readonly ledBy: Int32Array;
  /** [states] */
  readonly isFirst: Uint8Array;
  /** [states] the turn that it is before; -1: none, the last of its trajectory */
  readonly turn: Int32Array;
  /** by key; null: not loaded */
  readonly texts: readonly string[] | null;
}

export function statesInOrder(trajectories: TrajectoryBatch): StateRows {
  const { turnOffsets, groupOf, stateKey, actionKey } = trajectories;
  const { finalText, texts } = finalTexts(trajectories);
  const size = stateKey.length + groupOf.length;
  const rows = {
    group: new Int32Array(size),
    text: new Int32Array(size),
    ledBy: new Int32Array(size),
    isFirst: new Uint8Array(size),
    turn: new Int32Array(size),
    texts,
  };
  let row = 0;
  for (let i = 0; i < groupOf.length; i++) {
    for (let t = turnOffsets[i]; t <= turnOffsets[i + 1]; t++, row++) {
      const isEnd = t === turnOffsets[i + 1];
      rows.group[row] = groupOf[i];
      rows.text[row] = isEnd ? finalText[i] : stateKey[t];
      rows.isFirst[row] = t === turnOffsets[i] ? 1 : 0;
      rows.turn[row] = isEnd ? -1 : t;
      rows.ledBy[row] = rows.isFirst[row] ? 0 : actionKey[t - 1] + 2;
    }
  }
  return rows;
}

/** [trajectories] the key of the final state's text, an equal state's where there is one; -1: not said, or not loaded. */
function finalTexts({ ids, texts, columns, ...rest }: TrajectoryBatch) {
  if (!texts) return { finalText: new Int32Array(ids.length).fill(-1), texts: null };
  const said = signalValues({ ids, texts, columns, ...rest }, 'trajectory.finalState', 'text');
  if (!said) return { finalText: new Int32Array(ids.length).fill(-1), texts: texts.states };
  const all = [...texts.states];
  const keyOf = new Map(all.map((state, key) => [state, key]));
  const finalText = Int32Array.from(said, (state) => {
    if (typeof state !== 'string') return -1;
    const key = keyOf.get(state) ?? all.push(state) - 1;
    keyOf.set(state, key);
    return key;
  });
  return { finalText, texts: all };
}

function keysOf(rows: StateRows, identity: StateIdentity, embedded: Int32Array | undefined): Int32Array {
  switch (identity.by) {
    case 'lastObservation':
      return rows.text.slice();
    case 'actionObservation':
      return pairLabels(rows.ledBy, rows.text).labels;
    case 'fullHistory':
      return historyLabels(rows);
    case 'similarity':
      return similarKeys(rows.group, rows.text, rows.texts!, identity.threshold).labels;
    case 'embedding':
      if (embedded) return embedded.slice();
      throw new RecreditError('request.invalid', 'states are compared by embedding on a device: ask for an analysis');
  }
}

/** A label per state and all that came before it: chained pairs, known by the label before. */
function historyLabels({ text, ledBy, isFirst }: StateRows): Int32Array {
  // a state that was not said is part of the history of the next one
  const said = text.map((key) => key + 1);
  const { labels: step, count } = pairLabels(ledBy, said);
  const known = new Map<number, number>();
  const labels = new Int32Array(text.length);
  let before = 0;
  for (let row = 0; row < text.length; row++) {
    if (isFirst[row]) before = 0;
    const path = before * (count + 1) + step[row];
    const label = known.get(path) ?? known.size;
    known.set(path, label);
    before = label + 1;
    labels[row] = text[row] < 0 ? -1 : label;
  }
  return labels;
}

/** Gives each generic state a key of its own. @returns the number of keys */
function apartWhereGeneric({ text, texts }: StateRows, keys: Int32Array): number {
  const isGeneric = texts!.map(isGenericState);
  let count = maxOf(keys) + 1;
  for (let row = 0; row < keys.length; row++) if (keys[row] >= 0 && isGeneric[text[row]]) keys[row] = count++;
  return count;
}

function maxOf(keys: Int32Array): number {
  let most = -1;
  for (const key of keys) if (key > most) most = key;
  return most;
}

function placed(
  { turnOffsets, stateKey, ids, texts }: TrajectoryBatch,
  rows: StateRows,
  keys: Int32Array,
  count: number,
) {
  const keyOfTurn = new Int32Array(stateKey.length);
  const finalKey = new Int32Array(ids.length);
  const states = texts && new Array<string>(count).fill('');
  const isNamed = new Uint8Array(count);
  let row = 0;
  for (let i = 0; i < ids.length; i++) {
    for (let t = turnOffsets[i]; t <= turnOffsets[i + 1]; t++, row++) {
      const key = keys[row];
      if (t < turnOffsets[i + 1]) keyOfTurn[t] = key;
      else finalKey[i] = key;
      if (key < 0 || !states || isNamed[key]) continue;
      states[key] = rows.texts![rows.text[row]];
      isNamed[key] = 1;
    }
  }
  const named: Texts | null = texts && states ? { ...texts, states } : null;
  return { stateKey: keyOfTurn, finalKey, texts: named };
}
