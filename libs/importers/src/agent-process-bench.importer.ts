import type { Signals } from '#lib/protocol';
import { z } from 'zod';
import { ChatMessage, chatTurns, toolCallCount } from './chat.js';
import { has } from './glimpse.js';
import { nameOf, said } from './identity.js';
import { defineImporter, type SourceEvent } from './importer.js';
import { readerOf, type Said } from './say.js';

const Label = z.literal([-1, 0, 1]);

/** By the index of an assistant message, as text. null: the judge gave none. */
const StepLabels = z.record(z.string().regex(/^\d+$/), Label.nullable());

const Labels = z.looseObject({
  data_source: z.string(),
  query_index: z.int(),
  sample_index: z.int(),
  step_labels: StepLabels,
  final_label: Label.nullish(),
});

/** A rollout with its labels; or, without messages, labels of it: a judge's, or the people's again. */
const Labelled = Labels.extend({
  messages: z.array(ChatMessage).optional(),
  annotator: z.string().optional(),
  status: z.string().optional(),
  comment: z.string().nullish(),
  updated_at: z.string().optional(),
  explanations: z
    .looseObject({ steps: z.record(z.string(), z.string().nullish()).nullish(), final: z.string().nullish() })
    .nullish(),
});

type Labels = z.infer<typeof Labels>;
type Labelled = z.infer<typeof Labelled>;

/** Of a trajectory, which turn each assistant message is. */
type TurnOf = ReadonlyMap<string, number>;

/** Whose the labels inside a rollout file are. */
const PEOPLE = 'human';
const NO_TIME = '1970-01-01T00:00:00Z';
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

export const agentProcessBench = defineImporter({
  id: 'agent-process-bench',
  title: 'AgentProcessBench: rollouts with human step labels, and judges of them',
  description:
    'JSONL of RUCBM/AgentProcessBench. The group is the question, labels are annotations. Files of labels or judges go with the file of their rollouts in the same command.',
  recognizes: ({ first }) =>
    has(first, 'step_labels', 'query_index', 'sample_index')
      ? `its first line has step_labels of a query and a sample, ${'messages' in first ? 'and messages' : 'to be joined with their rollouts'}`
      : null,
  addsToOthers: ({ first }) => !('messages' in first),
  reader: () => {
    const turnsOf = new Map<string, TurnOf>();
    return readerOf(Labelled, (record) =>
      record.messages ? rollout(record, record.messages, turnsOf) : judgement(record, turnsOf),
    );
  },
});

function rollout(record: Labelled, messages: readonly ChatMessage[], turnsOf: Map<string, TurnOf>): Said[] {
  const {
    messages: _messages,
    step_labels: _labels,
    final_label,
    query_index,
    sample_index,
    data_source,
    ...source
  } = record;
  const { turns, messageOf, finalState, system } = chatTurns(messages);
  const id = idOf(record);
  const turnOf = new Map(messageOf.map((message, turn) => [String(message), turn]));
  const labels = annotation(record, PEOPLE, turnOf);
  if ('skipped' in labels) return [labels];
  turnsOf.set(id, turnOf);
  const outcome = final_label === undefined || final_label === null ? null : Number(final_label === 1);
  const trajectory = said({
    id,
    group: String(query_index),
    trainingStep: 0,
    outcomeReward: outcome,
    success: outcome === null ? undefined : outcome === 1,
    signals: said({
      dataset: data_source,
      sampleIndex: sample_index,
      toolCalls: toolCallCount(messages),
      finalState,
    }) as Signals,
    turns,
    prompt: system,
    source,
  });
  return [{ trajectory }, labels];
}

function judgement(record: Labelled, turnsOf: ReadonlyMap<string, TurnOf>): Said[] {
  const turnOf = turnsOf.get(idOf(record));
  if (turnOf) return [annotation(record, nameOf(record.annotator ?? PEOPLE), turnOf)];
  return [
    {
      skipped: `its labels count messages of rollout ${idOf(record)}, which no file of this import holds: name the file of the rollouts in the same command (what is stored already is not added again)`,
    },
  ];
}

/** Labels as an annotation: a person's are `humanLabel`, a model's `judgeLabel`. */
function annotation(record: Labelled, annotator: string, turnOf: TurnOf): Said {
  const { step_labels, final_label, status, comment, updated_at, explanations } = record;
  const unknown = Object.keys(step_labels).find((message) => !turnOf.has(message));
  if (unknown !== undefined) return { skipped: `step_labels speaks of message ${unknown}, which is no assistant's` };
  const name = annotator === PEOPLE ? 'humanLabel' : 'judgeLabel';
  const isDone = status === undefined || status === 'done';
  const event: SourceEvent = said({
    type: 'annotation.recorded',
    at: updated_at && INSTANT.test(updated_at) ? updated_at : NO_TIME,
    trajectory: idOf(record),
    annotator,
    schema: 'ternary',
    status: isDone ? 'ok' : 'failed',
    failureReason: isDone ? undefined : status,
    signals: final_label === undefined ? undefined : { finalLabel: final_label },
    turns: Object.entries(step_labels)
      .map(([message, label]) =>
        said({
          turn: turnOf.get(message)!,
          signals: { [name]: label },
          rationale: explanations?.steps?.[message] || undefined,
        }),
      )
      .toSorted((a, b) => a.turn - b.turn),
    comment: comment || undefined,
    finalRationale: explanations?.final || undefined,
  });
  return { event };
}

/** As the judges' files name their records. */
function idOf({ data_source, query_index, sample_index }: Labels): string {
  return nameOf(`${data_source}:${query_index}:${sample_index}`);
}
