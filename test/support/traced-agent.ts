import {
  context,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace';

/** An agent that is traced by the official OpenTelemetry SDK; nothing is sent, the spans are kept in the order in which they ended. */
export function tracedAgent(resource: Attributes = { 'service.name': 'shop-agent' }) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({
    resource: resourceFromAttributes(resource),
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  return {
    tracer: provider.getTracer('traced-agent'),
    /** what has ended since the last call */
    ended: (): ReadableSpan[] => {
      const spans = [...exporter.getFinishedSpans()];
      exporter.reset();
      return spans;
    },
  };
}

/** As the SDK's exporter with protobuf would send them. */
export const protobufOf = (spans: ReadableSpan[]) => Buffer.from(ProtobufTraceSerializer.serializeRequest(spans)!);
/** As its exporter with JSON would. */
export const jsonOf = (spans: ReadableSpan[]) => Buffer.from(JsonTraceSerializer.serializeRequest(spans)!);

/** Milliseconds; the times of spans, so that the order is known. */
const BEGAN = Date.UTC(2026, 10, 21, 12);

/** A span of so many milliseconds from `at`; its children are made by `inside`. */
export function traced(
  tracer: Tracer,
  parent: Context,
  name: string,
  { at, ms = 5, attributes, failure }: { at: number; ms?: number; attributes: Attributes; failure?: string },
  inside: (context: Context) => void = () => {},
): void {
  const span = tracer.startSpan(name, { attributes, startTime: BEGAN + at }, parent);
  inside(trace.setSpan(parent, span));
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
  span.end(BEGAN + at + ms);
}

export const NO_PARENT = context.active();
/** A parent in another process. */
export const setRemote = (parent: SpanContext) => trace.setSpanContext(NO_PARENT, parent);

/** Looks a price up and answers: two inferences and a tool, in the GenAI conventions. */
export function shop(
  tracer: Tracer,
  attributes: Attributes = {},
  question = 'How much is tea?',
  parent = NO_PARENT,
): void {
  const chat = (input: object[], output: object[]): Attributes => ({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'small-1',
    'gen_ai.usage.input_tokens': 20,
    'gen_ai.usage.output_tokens': 7,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.input.messages': JSON.stringify(input),
    'gen_ai.output.messages': JSON.stringify(output),
  });
  const system = { role: 'system', parts: [{ type: 'text', content: 'Be short.' }] };
  const asked = { role: 'user', parts: [{ type: 'text', content: question }] };
  const call = { type: 'tool_call', id: 'c1', name: 'price', arguments: { of: 'tea', in: 'EUR' } };
  const thinking = { type: 'reasoning', content: 'I must look it up.' };
  const called = { role: 'assistant', parts: [thinking, call], finish_reason: 'tool_call' };
  const result = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: { price: 3 } }] };
  const answer = { role: 'assistant', parts: [{ type: 'text', content: '3 EUR' }], finish_reason: 'stop' };
  const root = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'shopper', ...attributes };
  traced(tracer, parent, 'invoke_agent shopper', { at: 0, ms: 100, attributes: root }, (agent) => {
    traced(tracer, agent, 'chat small-1', { at: 10, attributes: chat([system, asked], [called]) });
    const tool = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'price',
      'gen_ai.tool.call.result': '{"price":3}',
    };
    traced(tracer, agent, 'execute_tool price', { at: 20, attributes: tool });
    traced(tracer, agent, 'GET /prices', { at: 21, attributes: { 'http.request.method': 'GET' } });
    traced(tracer, agent, 'chat small-1', { at: 30, attributes: chat([system, asked, called, result], [answer]) });
  });
}
