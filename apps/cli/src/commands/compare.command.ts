import type { Comparison, ComparisonDifference } from '#lib/diagnostics';
import { RecreditError } from '#lib/kernel';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { viewAnalysis, type AnalysisView } from '../client/analysis.js';
import { turnText, type TurnText } from '../client/turn-text.js';
import { online } from '../options.js';
import { agreementText, disputedText, estimatorsText, scopeText, signalText } from '../output/comparison-text.js';
import { differenceText } from '../output/difference-text.js';
import { withApi } from '../session.js';
import { estimatorNotes } from './analyze.command.js';

const SHOWN_DISPUTES = 5;

export function compareCommand(cli: Cli): Command {
  return online(new Command('compare'))
    .description('lay the answers of an analysis side by side, or hold one against another, such as of another run')
    .argument('<analysis>', 'its id')
    .argument('[against]', 'id of another analysis with the same estimators')
    .action(
      cli.answering(async (id: string, against: string | undefined, options: CommonOptions) => {
        if (against !== undefined) return differenceOf(cli, options, id, against);
        const { analysis, texts } = await withApi(cli, options, async (api) => {
          const analysis = await viewAnalysis(api, id);
          const disputed = analysis.comparison?.detail.disputed.slice(0, SHOWN_DISPUTES) ?? [];
          return { analysis, texts: await Promise.all(disputed.map((turn) => turnText(api, turn))) };
        });
        const comparison = comparisonOf(analysis);
        return {
          json: { analysis: id, ...inOrder(comparison, analysis) },
          text: compareText(analysis, comparison, texts),
        };
      }),
    );
}

async function differenceOf(cli: Cli, options: CommonOptions, analysis: string, against: string) {
  const { difference } = await withApi(cli, options, (api) =>
    api.query<{ difference: (ComparisonDifference & { readonly first: string; readonly second: string }) | null }>(
      `query ($analysis: ID!, $against: ID!) { difference: comparisonDifference(analysis: $analysis, against: $against) {
         first second shareRuns onlyFirst onlySecond outcomes estimators truths } }`,
      { analysis, against },
    ),
  );
  if (!difference)
    throw new RecreditError('analysis.unknown', `no analysis ${analysis}, or none ${against}, that you see`);
  return { json: difference, text: differenceText(difference) };
}

function comparisonOf({ id, state, failure, progress, comparison }: AnalysisView): Comparison {
  if (comparison) return comparison.detail;
  const ended = state === 'COMPLETED' || state === 'FAILED' || state === 'CANCELLED';
  const why = ended
    ? `it has ${state.toLowerCase()}${failure ? `: ${failure}` : ''}`
    : `it is ${state.toLowerCase()}, ${progress.done + progress.failed} of ${progress.total} shards`;
  throw new RecreditError('request.invalid', `analysis ${id} has no comparison: ${why}`);
}

/** Estimators as they were asked for. */
function inOrder(comparison: Comparison, { estimators }: AnalysisView): Comparison {
  const place = new Map(estimators.map(({ label }, i) => [label, i]));
  const byPlace = (a: string, b: string) => (place.get(a) ?? 0) - (place.get(b) ?? 0);
  return {
    ...comparison,
    estimators: comparison.estimators.toSorted((a, b) => byPlace(a.id, b.id)),
    truths: comparison.truths.toSorted((a, b) => byPlace(a.estimator, b.estimator)),
  };
}

function compareText(analysis: AnalysisView, comparison: Comparison, texts: readonly (TurnText | null)[]): string {
  const sections = [
    [`${scopeText(comparison)}; ${signalText(comparison)}`, ...estimatorNotes(analysis)].join('\n'),
    estimatorsText(comparison),
  ];
  if (comparison.pairs.length > 0) sections.push(agreementText(comparison));
  if (texts.length > 0) {
    const turns = texts.map((text, i) => disputedText(comparison.disputed[i], text));
    sections.push(['most disputed turns', ...turns].join('\n'));
  }
  return sections.join('\n\n');
}
