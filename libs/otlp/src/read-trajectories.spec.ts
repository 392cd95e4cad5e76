import { describe, expect, it } from 'vitest';
import {
  jsonOf,
  NO_PARENT,
  protobufOf,
  setRemote,
  shop,
  traced,
  tracedAgent,
} from '../../../test/support/traced-agent.js';
import { decodeJson } from './decode-json.js';
import { decodeProtobuf } from './decode-protobuf.js';
import { readTrajectories } from './read-trajectories.js';

type Made = ReturnType<ReturnType<typeof tracedAgent>['ended']>;

/** What the official SDK's protobuf says; its JSON must say the same. */
function read(spans: Made) {
  const decoded = decodeProtobuf(protobufOf(spans));
  expect(decodeJson(jsonOf(spans).toString())).toEqual(decoded);
  const { trajectories, refusals } = readTrajectories(decoded);
  const why = refusals.map((refusal) => [refusal.spans.length, refusal.why]);
  return { trajectories, events: trajectories.map(({ event }) => event), why };
}

describe('an agent in the GenAI conventions', () => {
  it('is a trajectory with its inferences as turns', () => {
    const agent = tracedAgent();
    shop(agent.tracer, {
      'recredit.group': 'tea',
      'recredit.training_step': 3,
      'recredit.outcome_reward': 0.5,
      'recredit.success': true,
    });
    const spans = agent.ended();
    const root = spans.at(-1)!;
    const { trajectories, why } = read(spans);
    const { traceId, spanId } = root.spanContext();
    expect(why).toEqual([]);
    expect(trajectories).toHaveLength(1);
    expect(trajectories[0]).toMatchObject({ project: null, run: 'shop-agent', id: `${traceId}-${spanId}` });
    expect(trajectories[0].event).toEqual({
      type: 'trajectory.recorded',
      at: '2026-11-21T12:00:00.100Z',
      id: `${traceId}-${spanId}`,
      group: 'tea',
      trainingStep: 3,
      outcomeReward: 0.5,
      success: true,
      signals: { agent: 'shopper', toolCalls: 1 },
      turns: [
        {
          state: 'user:How much is tea?',
          action: 'price{"in":"EUR","of":"tea"}',
          signals: {
            thought: 'I must look it up.',
            agent: 'shopper',
            policy: 'small-1',
            inputTokens: 20,
            outputTokens: 7,
            ended: 'stop',
            latencyMs: 5,
          },
        },
        {
          state: 'tool:{"price":3}',
          action: 'respond:3 EUR',
          signals: {
            agent: 'shopper',
            policy: 'small-1',
            inputTokens: 20,
            outputTokens: 7,
            ended: 'stop',
            latencyMs: 5,
          },
        },
      ],
    });
  });

  it('is of the group of its prompt, of its service and of step 0, where it does not say', () => {
    const agent = tracedAgent({ 'service.name': 'svc' });
    for (const question of ['How much is tea?', 'How much is tea?', 'How much is milk?'])
      shop(agent.tracer, {}, question);
    const { trajectories, events } = read(agent.ended());
    expect(trajectories.map(({ run }) => run)).toEqual(['svc', 'svc', 'svc']);
    expect(events.map(({ trainingStep }) => trainingStep)).toEqual([0, 0, 0]);
    const groups = events.map(({ group }) => group);
    expect(groups[0]).toMatch(/^prompt-[0-9a-f]{12}$/);
    expect(groups[1]).toBe(groups[0]);
    expect(groups[2]).not.toBe(groups[0]);
    expect(events[0]).not.toHaveProperty('outcomeReward');
    expect(events[0]).not.toHaveProperty('success');
  });

  it('takes from its resource what its root does not say, and text for numbers', () => {
    const agent = tracedAgent({
      'recredit.run': 'r',
      'recredit.project': 'p',
      'recredit.training_step': '7',
      'recredit.success': 'false',
    });
    shop(agent.tracer, { 'recredit.training_step': 8 });
    const { trajectories } = read(agent.ended());
    expect(trajectories[0]).toMatchObject({ project: 'p', run: 'r', event: { trainingStep: 8, success: false } });
  });

  it.each([
    ['recredit.training_step', 'soon', 'a number was wanted, found soon'],
    ['recredit.outcome_reward', Infinity, 'a number was wanted, found "Infinity"'],
    ['recredit.success', 'perhaps', 'true or false was wanted, found perhaps'],
    ['recredit.signal.value', -Infinity, 'a finite number was wanted, found -Infinity'],
  ])('is refused whole for %s: %s', (name, value, why) => {
    const agent = tracedAgent();
    shop(agent.tracer, { [name]: value });
    // the SDK's JSON has no Infinity
    const { trajectories, refusals } = readTrajectories(decodeProtobuf(protobufOf(agent.ended())));
    expect(trajectories).toEqual([]);
    expect(refusals).toMatchObject([{ spans: [{}, {}, {}, {}, {}], why: `${name}: ${why}` }]);
  });

  it('knows what tools said where the messages are not recorded', () => {
    const agent = tracedAgent();
    const chat = { 'gen_ai.operation.name': 'chat', 'recredit.reward': 0.25, 'recredit.signal.valueEstimate': 0.5 };
    traced(
      agent.tracer,
      NO_PARENT,
      'agent',
      { at: 0, ms: 90, attributes: { 'gen_ai.operation.name': 'invoke_agent' } },
      (root) => {
        traced(agent.tracer, root, 'chat', { at: 10, attributes: chat });
        const tool = {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'look',
          'gen_ai.tool.call.arguments': '{"b":1,"a":2}',
        };
        traced(agent.tracer, root, 'execute_tool look', { at: 20, attributes: tool, failure: 'too dark' });
        traced(agent.tracer, root, 'chat', { at: 30, attributes: { 'gen_ai.operation.name': 'chat' } });
        traced(agent.tracer, root, 'execute_tool end', {
          at: 40,
          attributes: { ...tool, 'gen_ai.tool.call.result': 'night' },
        });
      },
    );
    const { events } = read(agent.ended());
    expect(events[0]).toMatchObject({ group: events[0].id, signals: { toolCalls: 2, finalState: 'tool:night' } });
    expect(events[0].turns).toEqual([
      { action: 'look{"a":2,"b":1}', reward: 0.25, signals: { valueEstimate: 0.5, latencyMs: 5, toolFailures: 1 } },
      { state: 'tool:too dark', action: 'look{"a":2,"b":1}', signals: { latencyMs: 5 } },
    ]);
  });
});

it('reads OpenInference: flattened messages, tools by their output', () => {
  const agent = tracedAgent();
  const kind = (name: string) => ({ 'openinference.span.kind': name });
  const at = (i: number, role: string, content: string) => ({
    [`llm.input_messages.${i}.message.role`]: role,
    [`llm.input_messages.${i}.message.content`]: content,
  });
  const call = 'llm.output_messages.0.message.tool_calls.0.tool_call.function';
  traced(
    agent.tracer,
    NO_PARENT,
    'graph',
    { at: 0, ms: 90, attributes: { ...kind('CHAIN'), 'session.id': 's' } },
    (root) => {
      traced(
        agent.tracer,
        root,
        'agent',
        { at: 5, attributes: { ...kind('AGENT'), 'agent.name': 'finder' } },
        (inner) => {
          const first = {
            ...kind('LLM'),
            ...at(0, 'system', 'Be short.'),
            ...at(1, 'user', 'Where?'),
            'llm.model_name': 'm',
            'llm.token_count.completion': 3,
          };
          const answer = {
            'llm.output_messages.0.message.role': 'assistant',
            [`${call}.name`]: 'find',
            [`${call}.arguments`]: '{"z": 1, "a": "x"}',
          };
          traced(agent.tracer, inner, 'llm', { at: 10, attributes: { ...first, ...answer } }, (llm) => {
            traced(agent.tracer, llm, 'the same again', { at: 11, attributes: { 'gen_ai.operation.name': 'chat' } });
          });
        },
      );
      traced(agent.tracer, root, 'find', {
        at: 20,
        attributes: { ...kind('TOOL'), 'tool.name': 'find', 'output.value': 'in the hall' },
      });
      traced(agent.tracer, root, 'llm', {
        at: 30,
        attributes: { ...kind('LLM'), 'input.value': 'in the hall', 'output.value': 'It is in the hall.' },
      });
    },
  );
  const { events, why } = read(agent.ended());
  expect(why).toEqual([]);
  expect(events).toMatchObject([
    {
      signals: { conversation: 's', toolCalls: 1 },
      turns: [
        {
          state: 'user:Where?',
          action: 'find{"a":"x","z":1}',
          signals: { agent: 'finder', policy: 'm', outputTokens: 3 },
        },
        { state: 'user:in the hall', action: 'respond:It is in the hall.' },
      ],
    },
  ]);
});

it('reads the older GenAI conventions: flattened prompts, events', () => {
  const agent = tracedAgent();
  const flat = {
    'gen_ai.request.model': 'm',
    'gen_ai.prompt.0.role': 'user',
    'gen_ai.prompt.0.content': 'Hello',
    'gen_ai.completion.0.content': 'Hi',
  };
  traced(agent.tracer, NO_PARENT, 'flat', { at: 0, attributes: flat });
  const span = agent.tracer.startSpan('events', { attributes: { 'gen_ai.operation.name': 'chat' } });
  span.addEvent('gen_ai.user.message', { content: 'Hello' });
  span.addEvent('gen_ai.choice', { index: 0, message: '{"role":"assistant","content":"Hi"}' });
  span.addEvent('gen_ai.evaluation.result', {
    'gen_ai.evaluation.name': 'polite',
    'gen_ai.evaluation.score.value': 0.75,
  });
  span.end();
  const { events } = read(agent.ended());
  for (const { turns } of events) expect(turns).toMatchObject([{ state: 'user:Hello', action: 'respond:Hi' }]);
  expect(events[1].turns).toMatchObject([{ signals: { 'evaluation.polite': 0.75 } }]);
});

describe('what of an export is no whole trajectory', () => {
  it('a span whose parent is elsewhere', () => {
    const agent = tracedAgent();
    shop(agent.tracer);
    const spans = agent.ended();
    expect(read(spans.slice(0, 3))).toMatchObject({
      events: [],
      why: [[3, expect.stringContaining('not in this export')]],
    });
    expect(read(spans.slice(3))).toMatchObject({ why: [] }); // of that the platform must know that some are missing
  });

  it('a root whose parent is in another process is a root', () => {
    const agent = tracedAgent();
    const remote = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1, isRemote: true };
    shop(agent.tracer, {}, 'Tea?', setRemote(remote));
    expect(read(agent.ended())).toMatchObject({ events: [{ turns: [{}, {}] }], why: [] });
  });

  it('a trace without inferences', () => {
    const agent = tracedAgent();
    traced(agent.tracer, NO_PARENT, 'GET /', { at: 0, attributes: {} });
    expect(read(agent.ended())).toMatchObject({ events: [], why: [[1, 'no inference span is among them']] });
  });

  it('inferences beside the spans that say where they belong, in one trace of many rollouts', () => {
    const agent = tracedAgent();
    traced(agent.tracer, NO_PARENT, 'training step', { at: 0, ms: 500, attributes: {} }, (step) => {
      for (const reward of [0, 1])
        shop(agent.tracer, { 'recredit.group': 'tea', 'recredit.outcome_reward': reward }, 'Tea?', step);
      traced(agent.tracer, step, 'judge', { at: 400, attributes: { 'gen_ai.operation.name': 'chat' } });
    });
    const { events, why } = read(agent.ended());
    expect(events.map(({ group, outcomeReward }) => [group, outcomeReward])).toEqual([
      ['tea', 0],
      ['tea', 1],
    ]);
    expect(why).toEqual([[1, expect.stringContaining('outside of the spans')]]);
  });

  it('ids that are none, ids that come twice, circles', () => {
    const agent = tracedAgent();
    shop(agent.tracer);
    const spans = decodeProtobuf(protobufOf(agent.ended()));
    const [first, second] = spans;
    const whyOf = (given: typeof spans) =>
      readTrajectories(given).refusals.map((refusal) => [refusal.spans.length, refusal.why]);
    expect(whyOf([...spans, { ...first, spanId: '0'.repeat(16) }])).toEqual([[1, 'their trace id or span id is none']]);
    expect(whyOf([...spans, { ...first }])).toEqual([[1, 'their span id came twice in this export']]);
    const circle = [
      { ...first, parentSpanId: second.spanId },
      { ...second, parentSpanId: first.spanId },
    ];
    expect(whyOf(circle)).toEqual([[2, expect.stringContaining('not in this export')]]);
  });
});

it('a reward that is not a number was asked for and is not available, in both forms', () => {
  const agent = tracedAgent();
  shop(agent.tracer, { 'recredit.outcome_reward': NaN });
  expect(read(agent.ended()).events).toMatchObject([{ outcomeReward: null }]);
});

it('does not depend on the order in which spans come', () => {
  const agent = tracedAgent();
  shop(agent.tracer);
  const spans = decodeProtobuf(protobufOf(agent.ended()));
  const [given, turned] = [spans, spans.toReversed()].map((some) =>
    JSON.stringify(readTrajectories(some).trajectories[0].event),
  );
  expect(turned).toBe(given);
});
