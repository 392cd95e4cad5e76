import type { Comparison, ComparisonDifference, TagAgreement } from '#lib/diagnostics';
import { meantInstead, RecreditError } from '#lib/kernel';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { viewAnalysis, type AnalysisView } from '../client/analysis.js';
import { disputedTurns, type ShownDispute } from '../client/disputed-turns.js';
import { online } from '../options.js';
import {
  agreementText,
  annotatorsText,
  creditText,
  disputedText,
  estimatorsText,
  scopeText,
  signalText,
  tagText,
} from '../output/comparison-text.js';
import { differenceText } from '../output/difference-text.js';
import { count, counted } from '../output/numbers.js';
import { withApi } from '../session.js';
import { estimatorNotes } from './analyze.command.js';

interface CompareOptions extends CommonOptions {
  readonly by?: string;
}

const SHOWN_DISPUTES = 5;

export function compareCommand(cli: Cli): Command {
  return online(new Command('compare'))
    .description('lay the answers of an analysis side by side, or hold one against another, such as of another run')
    .argument('<analysis>', 'its id')
    .argument('[against]', 'id of another analysis with the same estimators')
    .option('--by <tag>', 'how estimators agree by a text signal of trajectories, such as taskType')
    .action(
      cli.answering(async (id: string, against: string | undefined, options: CompareOptions) => {
        if (against !== undefined && options.by !== undefined) {
          throw new RecreditError('request.invalid', '--by is of one analysis, and two were named');
        }
        if (against !== undefined) return differenceOf(cli, options, id, against);
        const { analysis, disputed } = await withApi(cli, options, async (api) => ({
          analysis: await viewAnalysis(api, id),
          disputed: options.by === undefined ? await disputedTurns(api, id, SHOWN_DISPUTES) : [],
        }));
        const comparison = comparisonOf(analysis);
        if (options.by !== undefined) return byTag(id, comparison, options.by);
        return {
          json: { analysis: id, ...inOrder(comparison, analysis) },
          text: compareText(analysis, comparison, disputed),
        };
      }),
    );
}

function byTag(analysis: string, { tags = [], sample }: Comparison, tag: string) {
  const found = tags.find((each) => each.tag === tag);
  if (!found?.values) throw new RecreditError('request.invalid', noTag(tag, found, tags));
  const sampled = sample.sampled ? ['from a sample of the trajectories', ''] : [];
  return {
    json: { analysis, sampled: sample.sampled, ...found },
    text: [...sampled, tagText(tag, found.values)].join('\n'),
  };
}

function noTag(tag: string, found: TagAgreement | undefined, tags: readonly TagAgreement[]): string {
  if (found) return `${tag} is no tag: ${found.reason}`;
  const names = tags.filter(({ values }) => values !== null).map((each) => each.tag);
  const otherwise =
    names.length > 0
      ? `; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`
      : ': its trajectories have no text signal that is one';
  return `the comparison has no tag ${tag}${meantInstead(tag, names, otherwise)}`;
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
    : `it is ${state.toLowerCase()}, ${count(progress.done + progress.failed)} of ${counted(progress.total, 'shard')}`;
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

function compareText(analysis: AnalysisView, comparison: Comparison, disputed: readonly ShownDispute[]): string {
  const sections = [
    [`${scopeText(comparison)}; ${signalText(comparison)}`, ...estimatorNotes(analysis)].join('\n'),
    estimatorsText(comparison),
    ...annotatorsText(comparison),
    creditText(comparison),
    agreementText(comparison),
    agreementText(comparison, 'flipShare'),
    agreementText(comparison, 'gradientCosine'),
    ...(disputed.length > 0 ? [['most disputed turns', ...disputed.map(disputedText)].join('\n')] : []),
    ...tagsText(comparison),
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function tagsText({ tags = [], pairs }: Comparison): string[] {
  const names = tags.filter(({ values }) => values !== null && values.length > 1).map(({ tag }) => tag);
  return names.length > 0 && pairs.length > 0 ? [`by kind of trajectory: --by ${names.join(', --by ')}`] : [];
}
