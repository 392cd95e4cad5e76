import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { auditRun, type AuditWish } from '../client/audit.js';
import { jsonObject, online, wholeNumber } from '../options.js';
import { auditText } from '../output/audit-text.js';
import { withApi } from '../session.js';

export function auditCommand(cli: Cli): Command {
  return online(new Command('audit'))
    .description("hold the trainer's own advantages against an estimator's, and name the fault if there is one")
    .argument('<run>', 'name or id')
    .requiredOption('--estimator <id>', 'what the trainer says it uses')
    .option('--params <json>', 'params of the estimator', jsonObject)
    .option('--signal <name>', "of the trainer's own advantages, per turn or token (default: loggedAdvantage)")
    .option('--as-of <position>', 'events before it are looked at', wholeNumber)
    .action(
      cli.answering(async (run: string, options: CommonOptions & AuditWish) => {
        const waiting = cli.progress('auditing', options);
        waiting.update({ done: 0, total: 0 });
        const audit = await withApi(cli, options, (api) => auditRun(api, run, options)).finally(() => waiting.end());
        const { result, id, state: _state, failure: _failure, ...request } = audit;
        return { json: { audit: id, ...request, ...result }, text: auditText(audit) };
      }),
    );
}
