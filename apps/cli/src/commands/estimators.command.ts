import { describeEstimator, findEstimator } from '#lib/credit';
import { catalogueWith, readOwnEstimators } from '#lib/own-estimators';
import { Command } from 'commander';
import type { Cli } from '../cli.js';
import { answers } from '../options.js';
import { NOTHING, versionText } from '../output/numbers.js';
import { formatFields, formatTable } from '../output/table.js';

export function estimatorsCommand(cli: Cli): Command {
  return answers(new Command('estimators'))
    .description('the catalogue: what each estimator needs, says and is cited from (no platform needed)')
    .argument('[id]', 'one estimator with its params')
    .action(
      cli.answering(async (id: string | undefined) => {
        const catalogue = catalogueWith(await readOwnEstimators(cli.config.estimators));
        if (id === undefined) {
          const all = catalogue.map(describeEstimator);
          return { json: { estimators: all }, text: catalogueText(all) };
        }
        const one = describeEstimator(findEstimator(id, catalogue));
        return { json: one, text: estimatorText(one) };
      }),
    );
}

type Described = ReturnType<typeof describeEstimator>;

function catalogueText(all: readonly Described[]): string {
  return formatTable(
    [['estimator', 'title', 'gives', 'per', 'requires', 'citation']],
    all.map(({ id, title, hash, gives, levels, requires, citation }) => [
      id,
      title,
      gives,
      levels.join(' or '),
      requires.join(', ') || NOTHING,
      (citation.paper ?? citation.work ?? citation.code ?? NOTHING) + (hash === null ? '' : `, version ${hash}`),
    ]),
    ['left', 'left', 'left', 'left', 'left', 'left'],
  );
}

function estimatorText(estimator: Described): string {
  const { id, title, status, gives, levels, requires, accepts, citation } = estimator;
  const fields = formatFields([
    ['estimator', `${id}, ${versionText(estimator)}`],
    ['title', title],
    ['gives', `${gives} per ${levels.join(' or ')}`],
    ['requires', requires.join(', ') || NOTHING],
    ['uses if there', accepts.join(', ') || NOTHING],
    ['reads states', estimator.readsStates ? 'yes: an analysis chooses which are the same (--state-identity)' : 'no'],
    ['formula', status],
    ['paper', citation.paper ?? citation.work ?? NOTHING],
    ['code', citation.code ?? NOTHING],
  ]);
  const params = Object.entries((estimator.params.properties ?? {}) as Record<string, ParamSchema>).map(
    ([name, schema]) => [name, typeOf(schema), JSON.stringify(schema.default) ?? 'required', schema.description ?? ''],
  );
  if (params.length === 0) return `${fields}\n\nno params`;
  return `${fields}\n\n${formatTable([['param', 'type', 'default', '']], params, ['left', 'left', 'left', 'left'])}`;
}

interface ParamSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
}

function typeOf({ type, enum: choices }: ParamSchema): string {
  return choices ? choices.map(String).join(' | ') : (type ?? 'any');
}
