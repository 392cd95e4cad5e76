import { messageOf } from '#lib/kernel';
import { APART, readTrajectories, spansOfRequest, type Span } from '#lib/otlp';
import type { TrajectoryRecord } from '#lib/protocol';
import { z } from 'zod';
import { hasFields } from './glimpse.js';
import { said } from './identity.js';
import { defineImporter, type Parsed, type SourceFile } from './importer.js';
import { openFile } from './open-file.js';
import { readRecords } from './read-records.js';

export const otlp = defineImporter({
  id: 'otlp',
  title: 'OpenTelemetry traces',
  description:
    "Exports of spans in OTLP's JSON, as the Collector's file exporter writes them: one per line, an array or one document. Each trace is a trajectory, put together from all the exports and files that it came in.",
  settings: z.strictObject({
    from: z
      .string()
      .optional()
      .describe('the run whose trajectories are wanted: recredit.run of a trace, else its service.name; default: all'),
  }),
  recognizes: (glimpse) => hasFields(glimpse, ['resourceSpans']),
  reader: ({ from }) => {
    const traces = new Traces(from);
    return (file) => traces.read(file);
  },
});

/**
 * Puts traces together. A trace is whole when no file holds anything more of it: what each record ends is known before
 * the first one is taken, as all files are looked through for it. In memory lie the ids of all traces, and the spans of
 * those that are under way.
 */
class Traces {
  /** per trace the last record that has anything of it; null: not looked for yet */
  private lastOf: ReadonlyMap<string, string> | null = null;
  private readonly waiting = new Map<string, Span[]>();

  constructor(private readonly from: string | undefined) {}

  async *read(file: SourceFile): AsyncGenerator<Parsed> {
    this.lastOf ??= await lastRecords([file.path, ...(file.later ?? [])]);
    let first: Uint8Array | null = null;
    let broken: unknown = null;
    try {
      for await (const exported of exportsIn(file)) {
        const { where } = exported;
        if ('why' in exported) {
          yield { kind: 'skipped', where, why: exported.why };
          continue;
        }
        // names the file, whatever its first trajectory was made of
        first ??= exported.raw;
        const here = Map.groupBy(exported.spans, ({ traceId }) => traceId);
        for (const [traceId, spans] of here) {
          const known = this.waiting.get(traceId) ?? [];
          this.waiting.set(traceId, known);
          for (const span of spans) known.push(span);
          if (this.lastOf.get(traceId) === where) yield* this.take(traceId, where, first);
        }
      }
    } catch (error) {
      broken = error;
    }
    if (!file.later?.length) {
      const where = `${file.path}: its end`;
      for (const traceId of this.waiting.keys()) yield* this.take(traceId, where, first ?? new Uint8Array());
    }
    if (broken !== null) throw broken;
  }

  private *take(traceId: string, where: string, raw: Uint8Array): Generator<Parsed> {
    const { trajectories, refusals } = readTrajectories(this.waiting.get(traceId)!);
    this.waiting.delete(traceId);
    for (const { project, run, event } of trajectories) {
      if (this.from !== undefined && run !== this.from) {
        yield { kind: 'skipped', where, why: `trace ${traceId} is of ${run}, not of ${this.from}` };
        continue;
      }
      const { type: _type, ...trajectory } = event;
      const source = said({ project: project ?? undefined, run });
      yield { kind: 'trajectory', where, raw, trajectory: { ...(trajectory as TrajectoryRecord), source } };
    }
    for (const { spans, why } of refusals) {
      const reason = why === APART ? 'their parent is in none of the files' : why.replace(' in this export', '');
      yield { kind: 'skipped', where, why: `trace ${traceId}: ${reason} (spans: ${spans.length})` };
    }
  }
}

type Exported =
  | { readonly where: string; readonly raw: Uint8Array; readonly spans: readonly Span[] }
  | { readonly where: string; readonly why: string };

async function* exportsIn(file: SourceFile): AsyncGenerator<Exported> {
  for await (const record of readRecords(file)) {
    yield 'why' in record ? record : exportOf(record);
  }
}

function exportOf({ where, raw, value }: { where: string; raw: Uint8Array; value: unknown }): Exported {
  try {
    const spans = spansOfRequest(value);
    return spans.length > 0 ? { where, raw, spans } : { where, why: 'no spans are in it' };
  } catch (error) {
    return { where, why: messageOf(error) };
  }
}

/** What cannot be read is left to whoever reads it next, with a reason. */
async function lastRecords(paths: readonly string[]): Promise<Map<string, string>> {
  const last = new Map<string, string>();
  for (const path of paths) {
    const file = await openFile(path).catch(() => null);
    try {
      for await (const exported of file ? exportsIn({ path, bytes: file.bytes }) : []) {
        for (const { traceId } of 'spans' in exported ? exported.spans : []) last.set(traceId, exported.where);
      }
    } catch {
      continue;
    } finally {
      file?.close();
    }
  }
  return last;
}
