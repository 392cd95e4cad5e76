import { RecreditError } from '#lib/kernel';
import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import type { ApiClient } from '../client/api-client.js';
import { readLabels, type LabelLine } from '../offline/read-labels.js';
import { online } from '../options.js';
import { counted } from '../output/numbers.js';
import { withApi } from '../session.js';

interface LabelOptions extends CommonOptions {
  readonly annotator: string;
  readonly signal: string;
}

interface Recorded {
  readonly recorded: number;
  readonly unchanged: number;
}

const AT_ONCE = 500;
const SHOWN = 5;

export function labelCommand(cli: Cli): Command {
  return online(new Command('label'))
    .description('record labels, and other signals, that somebody gave to turns of a run')
    .argument('<run>', 'name or id')
    .argument('<file>', 'JSON lines {"trajectory", "turn", "label": -1, 0 or 1}, or with "signals": {...} instead')
    .requiredOption('--annotator <name>', 'who says so: a person, a model')
    .option('--signal <name>', 'what a label is recorded as', 'humanLabel')
    .action(
      cli.answering(async (run: string, file: string, options: LabelOptions) => {
        const lines = await readLabels(file, options.signal);
        const answer = await withApi(cli, options, async (api) => {
          // all of the file is looked at before any of it is recorded
          const sending = { run, annotator: options.annotator };
          await sendAll(api, { ...sending, checkOnly: true }, lines, file);
          return sendAll(api, { ...sending, checkOnly: false }, lines, file);
        });
        return {
          json: { run, annotator: options.annotator, ...answer },
          text: `${counted(answer.recorded, 'line')} recorded${answer.unchanged > 0 ? `, ${answer.unchanged} said already` : ''}`,
        };
      }),
    );
}

interface Sending {
  readonly run: string;
  readonly annotator: string;
  readonly checkOnly: boolean;
}

async function sendAll(api: ApiClient, sending: Sending, lines: readonly LabelLine[], file: string): Promise<Recorded> {
  let [recorded, unchanged] = [0, 0];
  for (let start = 0; start < lines.length; start += AT_ONCE) {
    const some = lines.slice(start, start + AT_ONCE);
    const annotations = some.map(({ line: _line, ...said }) => said);
    const { answer } = await api
      .query<{ answer: Recorded }>(
        `mutation ($input: AnnotateAllInput!) { answer: annotateAll(input: $input) { recorded unchanged } }`,
        { input: { ...sending, annotations } },
      )
      .catch((error: unknown) => {
        throw withLines(error, some, file);
      });
    recorded += answer.recorded;
    unchanged += answer.unchanged;
  }
  return { recorded, unchanged };
}

/** Whoever wrote the file knows its lines, and not how they were sent. */
function withLines(error: unknown, lines: readonly LabelLine[], file: string): unknown {
  if (!(error instanceof RecreditError)) return error;
  const { issues, count } = error.details as {
    readonly issues?: readonly { readonly index: number; readonly message: string }[];
    readonly count?: number;
  };
  if (!issues || count === undefined) return error;
  const shown = issues.slice(0, SHOWN).map(({ index, message }) => `line ${lines[index].line}: ${message}`);
  const more = count > shown.length ? `; and ${count - shown.length} more` : '';
  return new RecreditError('file.invalid', `${file}: ${shown.join('; ')}${more}`, { wrong: count });
}
