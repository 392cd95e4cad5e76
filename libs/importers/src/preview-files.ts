import { RecreditError } from '#lib/kernel';
import {
  checkBatch,
  isDeeperThan,
  MAX_BATCH_BYTES,
  MAX_DEPTH,
  type LineIssue,
  type TrajectoryRecord,
} from '#lib/protocol';
import type { SourceEvent } from './importer.js';
import { described, nothingIn, openRecords, sourceFiles, type RecognizedFile } from './source-files.js';
import { Tally, type Skipped } from './tally.js';

/** A signal, a reward or a token column, and on how many rows of its level files have it. */
export interface Understood {
  readonly level: 'trajectory' | 'turn' | 'token';
  readonly name: string;
  readonly rows: number;
}

/** What an import would store. */
export interface Preview {
  readonly files: readonly RecognizedFile[];
  readonly trajectories: number;
  readonly groups: number;
  /** groups whose outcomes differ */
  readonly mixedGroups: number;
  readonly turns: number;
  readonly tokens: number;
  readonly annotations: number;
  readonly trainingSteps: { readonly first: number; readonly last: number } | null;
  /** of the trajectories that have one */
  readonly meanOutcome: number | null;
  readonly withOutcome: number;
  readonly understood: readonly Understood[];
  /** fields of the files that are kept as they are and that no estimator reads, by how many records have them */
  readonly keptOnly: readonly { readonly field: string; readonly records: number }[];
  readonly example: TrajectoryRecord | null;
  readonly skipped: readonly Skipped[];
  readonly skippedCount: number;
}

const MAX_NAMES = 1_000;
const LEVELS = ['trajectory', 'turn', 'token'] as const;

/**
 * Reads files as an import would, and stores nothing.
 *
 * @throws RecreditError `format.unknown`, `file.invalid`, `usage.wrong`, as an import would
 */
export async function previewFiles(
  format: string,
  paths: readonly string[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Preview> {
  const { files, skipped: unread } = await sourceFiles(format, paths, settings);
  const tally = new Tally();
  for (const each of unread) tally.skip(each);
  const seen = new Seen();
  for (const source of files) {
    const before = tally.events;
    const file = await openRecords(source);
    try {
      for await (const parsed of file.records) {
        if (parsed.kind === 'skipped') {
          tally.skip({ where: parsed.where, why: parsed.why });
          continue;
        }
        const event = parsed.kind === 'event' ? parsed.event : { ...parsed.trajectory, type: 'trajectory.recorded' };
        const why = problemOf(event);
        if (why !== null) {
          tally.skip({ where: parsed.where, why });
        } else if (parsed.kind === 'event') {
          tally.addEvent(parsed.event);
          seen.event(parsed.event);
        } else {
          tally.addTrajectory(parsed.trajectory);
          seen.trajectory(parsed.trajectory);
        }
      }
    } finally {
      file.close();
    }
    if (tally.events > before) continue;
    const problem = nothingIn(source.importer, source.path, tally.skipped.at(-1));
    if (!source.isFromFolder) throw problem;
    tally.skip({ where: source.path, why: problem.message });
  }
  const { trajectories, groups, turns, annotations, skipped, skippedCount } = tally;
  return {
    files: files.map(described),
    trajectories,
    groups,
    turns,
    annotations,
    ...seen.summary(),
    skipped,
    skippedCount,
  };
}

/** Why the platform would not take an event, as it would say it. */
function problemOf(event: SourceEvent): string | null {
  if (isDeeperThan(event, MAX_DEPTH)) return `${event.type}: nested deeper than ${MAX_DEPTH} levels`;
  const line = Buffer.from(JSON.stringify({ at: '1970-01-01T00:00:00Z', ...event }));
  if (line.length > MAX_BATCH_BYTES) {
    return `${event.type}: expected up to ${MAX_BATCH_BYTES} bytes, found ${line.length}`;
  }
  try {
    checkBatch(line);
    return null;
  } catch (error) {
    if (!(error instanceof RecreditError)) throw error;
    const [{ pointer, expected, found }] = error.details.issues as readonly LineIssue[];
    return `${event.type}${pointer}: expected ${expected}, found ${found}`;
  }
}

/** What goes by, counted; memory grows with names, groups and ids only. */
class Seen {
  private readonly names = new Map<string, Understood>();
  private readonly kept = new Map<string, number>();
  private readonly outcomes = new Map<string, { first: number; isMixed: boolean }>();
  private steps: { first: number; last: number } | null = null;
  private outcomeSum = 0;
  private withOutcome = 0;
  private tokens = 0;
  private example: TrajectoryRecord | null = null;

  trajectory(trajectory: TrajectoryRecord): void {
    this.example ??= trajectory;
    this.step(trajectory.trainingStep);
    this.outcome(trajectory.trainingStep, trajectory.group, trajectory.outcomeReward);
    if (trajectory.success !== undefined) this.count('trajectory', 'success');
    if (trajectory.parent !== undefined) this.count('trajectory', 'parent');
    for (const name of Object.keys(trajectory.signals ?? {})) this.count('trajectory', name);
    for (const turn of trajectory.turns) this.turn(turn);
    const { source } = trajectory;
    if (typeof source !== 'object' || source === null) return;
    for (const field of Object.keys(source)) {
      if (this.kept.size < MAX_NAMES || this.kept.has(field)) this.kept.set(field, (this.kept.get(field) ?? 0) + 1);
    }
  }

  event(event: SourceEvent): void {
    if (event.type === 'turn.recorded') this.turn(event);
    if (event.type === 'trajectory.ended') {
      this.step(Number(event.trainingStep));
      this.outcome(Number(event.trainingStep), String(event.group), event.outcomeReward as number | null | undefined);
    }
    if (event.type !== 'annotation.recorded') return;
    for (const name of Object.keys(event.signals ?? {})) this.count('trajectory', `${name} (annotated)`);
    for (const { signals } of (event.turns ?? []) as { signals: object }[]) {
      for (const name of Object.keys(signals)) this.count('turn', `${name} (annotated)`);
    }
  }

  summary() {
    const outcomes = [...this.outcomes.values()];
    return {
      mixedGroups: outcomes.filter(({ isMixed }) => isMixed).length,
      tokens: this.tokens,
      trainingSteps: this.steps,
      meanOutcome: this.withOutcome === 0 ? null : this.outcomeSum / this.withOutcome,
      withOutcome: this.withOutcome,
      understood: LEVELS.flatMap((level) => [...this.names.values()].filter((each) => each.level === level)),
      keptOnly: [...this.kept]
        .filter(([field]) => !this.names.has(`trajectory ${field}`))
        .map(([field, records]) => ({ field, records })),
      example: this.example,
    };
  }

  private turn({ reward, signals, tokens }: Readonly<Record<string, unknown>>): void {
    if (reward !== undefined) this.count('turn', 'reward');
    for (const name of Object.keys(signals ?? {})) this.count('turn', name);
    const columns = Object.entries((tokens ?? {}) as Record<string, unknown>);
    const lengths = columns.map(([, column]) => (Array.isArray(column) ? column.length : 0));
    this.tokens += Math.max(0, ...lengths);
    columns.forEach(([name], i) => this.count('token', name, lengths[i]));
  }

  private count(level: Understood['level'], name: string, rows = 1): void {
    const key = `${level} ${name}`;
    const before = this.names.get(key);
    if (before || this.names.size < MAX_NAMES) this.names.set(key, { level, name, rows: (before?.rows ?? 0) + rows });
  }

  private step(trainingStep: number): void {
    const { first, last } = this.steps ?? { first: trainingStep, last: trainingStep };
    this.steps = { first: Math.min(first, trainingStep), last: Math.max(last, trainingStep) };
  }

  private outcome(trainingStep: number, group: string, outcome: number | null | undefined): void {
    if (outcome === undefined || outcome === null) return;
    this.outcomeSum += outcome;
    this.withOutcome++;
    const key = `${trainingStep} ${group}`;
    const before = this.outcomes.get(key);
    if (!before) this.outcomes.set(key, { first: outcome, isMixed: false });
    else if (before.first !== outcome) before.isMixed = true;
  }
}
