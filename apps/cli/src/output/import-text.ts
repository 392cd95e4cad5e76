import type { ImportResult, Preview } from '#lib/importers';
import { compact, count, counted, NOTHING } from './numbers.js';
import { formatFields, formatTable, onOneLine } from './table.js';

const SHOWN_FILES = 5;
const SHOWN_SKIPS = 5;
const SHOWN_TURNS = 4;
const WIDTH = 88;

/** What each file was taken for, where that was found out. */
export function recognizedText(files: ImportResult['files']): string[] {
  const recognized = files.filter(({ why }) => why !== null);
  return [
    ...recognized.slice(0, SHOWN_FILES).map(({ path, format, why }) => `${path}: ${format}, because ${why}`),
    ...(recognized.length > SHOWN_FILES ? [`... and ${counted(recognized.length - SHOWN_FILES, 'more file')}`] : []),
  ];
}

/** The reasons, each with how many records it was and where the first of them is. */
export function skippedText({ skipped, skippedCount }: Pick<ImportResult, 'skipped' | 'skippedCount'>): string[] {
  if (skippedCount === 0) return [];
  const reasons = [...Map.groupBy(skipped, ({ why }) => why)].toSorted(([, a], [, b]) => b.length - a.length);
  const rest = reasons.slice(SHOWN_SKIPS).reduce((sum, [, records]) => sum + records.length, 0);
  const unlisted = rest + (skippedCount - skipped.length);
  return [
    `${counted(skippedCount, 'record')} skipped:`,
    ...reasons
      .slice(0, SHOWN_SKIPS)
      .map(
        ([why, records]) =>
          `  ${records[0].where}${records.length > 1 ? ` and ${count(records.length - 1)} more` : ''}: ${why}`,
      ),
    ...(unlisted > 0 ? [`  ... and ${count(unlisted)} more (--json lists them)`] : []),
  ];
}

/** What a dry run says: what was understood, what was only kept, what was not understood at all. */
export function previewText(preview: Preview): string {
  const { trajectories, turns, tokens, annotations, groups, mixedGroups, trainingSteps, meanOutcome, withOutcome } =
    preview;
  const steps = trainingSteps
    ? trainingSteps.first === trainingSteps.last
      ? String(trainingSteps.first)
      : `${trainingSteps.first} to ${trainingSteps.last}`
    : NOTHING;
  const fields: [string, string][] = [
    ['trajectories', count(trajectories)],
    ['groups', `${count(groups)}, ${count(mixedGroups)} of them with different outcomes`],
    ['turns', count(turns)],
    ['tokens', count(tokens)],
    ['annotations', count(annotations)],
    ['training steps', steps],
    ['outcome reward', withOutcome === 0 ? 'none' : `on ${count(withOutcome)}, mean ${compact(meanOutcome)}`],
  ];
  const understood = preview.understood.map(({ level, name, rows }) => [level, name, count(rows)]);
  const kept = preview.keptOnly.map(({ field, records }) => `${field} (${count(records)})`).join(', ');
  return [
    ...recognizedText(preview.files),
    formatFields(fields),
    '',
    ...(understood.length > 0
      ? [formatTable([['level', 'understood as', 'rows']], understood, ['left', 'left', 'right']), '']
      : []),
    ...(kept === '' ? [] : [`kept beside them, as they are: ${kept}`, '']),
    ...exampleText(preview),
    ...skippedText(preview),
    'A dry run: nothing was stored.',
  ].join('\n');
}

function exampleText({ example }: Preview): string[] {
  if (!example) return [];
  const { id, group, trainingStep, turns } = example;
  const shown = turns
    .slice(0, SHOWN_TURNS)
    .flatMap(({ state, action }, t) => [
      `  turn ${t}  saw  ${onOneLine(textOf(state), WIDTH)}`,
      `          did  ${onOneLine(textOf(action), WIDTH)}`,
    ]);
  return [
    `The first trajectory is ${id}, of group ${group} in training step ${trainingStep}:`,
    ...shown,
    ...(turns.length > SHOWN_TURNS ? [`  ... and ${counted(turns.length - SHOWN_TURNS, 'turn')} more`] : []),
    '',
  ];
}

function textOf(text: unknown): string {
  return typeof text === 'string' ? text : JSON.stringify(text ?? '');
}
