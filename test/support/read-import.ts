import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Skipped, SourceEvent } from '#lib/importers';
import { checkBatch, type TrajectoryRecord } from '#lib/protocol';
import { openRecords, sourceFiles } from '../../libs/importers/src/source-files.js';

/** Files of public data sets, which lie beside some checkouts and are no part of it. */
const SHARED = join(import.meta.dirname, '../../../shared/data');

/** Small files of each format that we made ourselves. */
const OWN = join(import.meta.dirname, '../importers');

export interface ImportedFiles {
  readonly trajectories: TrajectoryRecord[];
  readonly events: SourceEvent[];
  readonly skipped: Skipped[];
}

export function ownFile(path: string): string {
  return join(OWN, path);
}

/** Whether a folder of public data is there; a test that needs it says in its name why it is skipped. */
export function hasShared(folder: string): boolean {
  return existsSync(join(SHARED, folder));
}

export function sharedFile(path: string): string {
  return join(SHARED, path);
}

/** All that an importer reads in some files, each of which the platform would take. */
export async function readImport(
  format: string,
  paths: readonly string[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<ImportedFiles> {
  const imported: ImportedFiles = { trajectories: [], events: [], skipped: [] };
  for (const source of (await sourceFiles(format, paths, settings)).files) {
    for await (const parsed of (await openRecords(source)).records) {
      if (parsed.kind === 'trajectory') imported.trajectories.push(parsed.trajectory);
      else if (parsed.kind === 'event') imported.events.push(parsed.event);
      else imported.skipped.push({ where: parsed.where.replace(source.path, ''), why: parsed.why });
    }
  }
  const at = '1970-01-01T00:00:00Z';
  const events = [
    ...imported.trajectories.map((record) => ({ type: 'trajectory.recorded', at, ...record })),
    ...imported.events,
  ];
  for (const event of events) checkBatch(Buffer.from(JSON.stringify(event)));
  return imported;
}

/** What the table of acceptance numbers says of a data set. */
export function countsOf(trajectories: readonly TrajectoryRecord[]) {
  const groups = Map.groupBy(trajectories, ({ group, trainingStep }) => `${trainingStep} ${group}`);
  const outcomes = trajectories.map(({ outcomeReward }) => outcomeReward ?? 0);
  const isMixed = (members: readonly TrajectoryRecord[]) =>
    new Set(members.map(({ outcomeReward }) => outcomeReward)).size > 1;
  return {
    trajectories: new Set(trajectories.map(({ id }) => id)).size,
    groups: groups.size,
    mixed: [...groups.values()].filter(isMixed).length,
    turns: trajectories.reduce((sum, { turns }) => sum + turns.length, 0),
    meanOutcome: Number((outcomes.reduce((sum, outcome) => sum + outcome, 0) / outcomes.length).toFixed(4)),
  };
}
