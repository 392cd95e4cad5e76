import type { RaterAgreement, RaterReport } from '#lib/diagnostics';
import { RecreditError } from '#lib/kernel';
import { Command, Option } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { nameList, online } from '../options.js';
import { count, decimal, NOTHING, percent } from '../output/numbers.js';
import { formatTable } from '../output/table.js';
import { withApi } from '../session.js';

interface LabelsOptions extends CommonOptions {
  readonly signals?: readonly string[];
}

interface Report extends RaterReport {
  readonly run: string;
  readonly sampled: boolean;
}

const BENCHMARK =
  'records stepAcc firstErrorAcc trajectoryExactAcc missingOrFailedRatio errorAcc correctAcc f1 byDataset';
const AGREEMENT = 'turns trajectories kappa kappaLow kappaHigh sameShare firstErrorShare macroF1 confusion';

export function labelsCommand(cli: Cli): Command {
  return online(new Command('labels'))
    .description('who labelled the turns of a run, and how far they agree')
    .argument('<run>', 'name or id')
    .addOption(new Option('--signals <a,b>', 'which labels (default: humanLabel,judgeLabel)').argParser(nameList))
    .action(
      cli.answering(async (run: string, options: LabelsOptions) => {
        const { labels } = await withApi(cli, options, (api) =>
          api.query<{ labels: Report | null }>(
            `query ($run: ID!, $signals: [String!]) { labels(run: $run, signals: $signals) { run sampled
               raters { annotator signal turns trajectories byLabel others { ${AGREEMENT} } benchmark { ${BENCHMARK} } }
               pairs { first second agreement { ${AGREEMENT} } } } }`,
            { run, signals: options.signals ?? null },
          ),
        );
        if (!labels) throw new RecreditError('run.unknown', `no run ${run} among those you see`);
        return { json: labels, text: labelsText(labels, options.signals) };
      }),
    );
}

function labelsText({ raters, pairs, sampled }: Report, signals?: readonly string[]): string {
  if (raters.length === 0 && signals) return `nobody labelled a turn by ${signals.join(' or ')}`;
  if (raters.length === 0) return 'nobody labelled a turn: `recredit label RUN FILE --annotator NAME` records labels';
  const sections = [
    formatTable(
      [['annotator', 'signal', 'turns', 'trajectories', '−1', '0', '+1', 'same as most others', 'κ', '90 %']],
      raters.map(({ annotator, signal, turns, trajectories, byLabel, others }) => [
        annotator,
        signal,
        count(turns),
        count(trajectories),
        ...byLabel.map((turns) => count(turns)),
        others ? `${percent(others.sameShare)} of ${count(others.turns)}` : NOTHING,
        ...kappaCells(others),
      ]),
      ['left', 'left', 'right', 'right', 'right', 'right', 'right', 'right', 'right', 'left'],
    ),
  ];
  if (pairs.length > 0) {
    const nameOf = (index: number) => `${raters[index].annotator} (${raters[index].signal})`;
    sections.push(
      formatTable(
        [['first', 'second', 'turns', 'same', 'first error', 'κ', '90 %']],
        pairs.map(({ first, second, agreement }) => [
          nameOf(first),
          nameOf(second),
          count(agreement.turns),
          percent(agreement.sameShare),
          percent(agreement.firstErrorShare),
          ...kappaCells(agreement),
        ]),
        ['left', 'left', 'right', 'right', 'right', 'right', 'left'],
      ),
    );
  }
  const judged = raters.filter(({ benchmark }) => benchmark);
  if (judged.length > 0) sections.push(benchmarkText(judged));
  if (sampled) sections.push('not all labels were looked at: there are too many');
  return sections.join('\n\n');
}

/** The numbers of AgentProcessBench and ProcessBench. */
function benchmarkText(raters: Report['raters']): string {
  return formatTable(
    [
      ['', '', { over: 4, text: 'AgentProcessBench, against people' }, { over: 3, text: 'ProcessBench' }],
      ['annotator', 'trajectories', 'steps', 'first error', 'all steps', 'failed', 'errors', 'correct', 'F1'],
    ],
    raters.map(({ annotator, signal, benchmark }) => [
      `${annotator} (${signal})`,
      count(benchmark?.records),
      percent(benchmark?.stepAcc),
      percent(benchmark?.firstErrorAcc),
      percent(benchmark?.trajectoryExactAcc),
      percent(benchmark?.missingOrFailedRatio),
      decimal(benchmark?.errorAcc, 1),
      decimal(benchmark?.correctAcc, 1),
      decimal(benchmark?.f1, 1),
    ]),
    ['left', 'right', 'right', 'right', 'right', 'right', 'right', 'right', 'right'],
  );
}

function kappaCells(agreement: RaterAgreement | null): [string, string] {
  if (!agreement) return [NOTHING, ''];
  const { kappa, kappaLow, kappaHigh } = agreement;
  return [decimal(kappa), kappaLow === null ? '' : `${decimal(kappaLow)}..${decimal(kappaHigh)}`];
}
