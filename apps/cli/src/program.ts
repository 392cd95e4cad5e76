import { createRequire } from 'node:module';
import { Command } from 'commander';
import type { Cli } from './cli.js';
import { analyzeCommand } from './commands/analyze.command.js';
import { compareCommand } from './commands/compare.command.js';
import { demoCommand } from './commands/demo.command.js';
import { doctorCommand } from './commands/doctor.command.js';
import { estimateCommand } from './commands/estimate.command.js';
import { estimatorsCommand } from './commands/estimators.command.js';
import { exportCommand } from './commands/export.command.js';
import { importCommand } from './commands/import.command.js';
import { keysCommand } from './commands/keys.command.js';
import { runCommand, runsCommand } from './commands/runs.command.js';
import { serveCommand } from './commands/serve.command.js';
import { shardCommand } from './commands/shard.command.js';
import { syncCommand } from './commands/sync.command.js';
import { vectorsCommand } from './commands/vectors.command.js';
import { rebuildCommand, verifyCommand } from './commands/verify.command.js';

const { version } = createRequire(import.meta.url)('../../../../package.json') as { version: string };

const GROUPS = [
  ['Start', [serveCommand, demoCommand, doctorCommand]],
  ['Bring in and look', [importCommand, syncCommand, runsCommand, runCommand, exportCommand]],
  ['Assign credit again', [estimatorsCommand, analyzeCommand, compareCommand]],
  ['Without a platform', [estimateCommand, vectorsCommand, shardCommand]],
  ['Keep', [verifyCommand, rebuildCommand, keysCommand]],
] as const;

/** The `recredit` command line. */
export function program(cli: Cli): Command {
  const recredit = new Command('recredit')
    .description('Tracks reinforcement-learning training of LLM agents and assigns credit again, after the fact.')
    .version(version)
    .helpCommand(false)
    .addHelpText('after', '\nRECREDIT_HOME, RECREDIT_URL and the others: docs/guides/command-line.md');
  for (const [group, commands] of GROUPS) {
    recredit.commandsGroup(`${group}:`);
    for (const command of commands) recredit.addCommand(command(cli));
  }
  configure(recredit, cli);
  return recredit;
}

/** Every command refuses in the same way: one line, thrown and not exited. */
function configure(command: Command, cli: Cli): void {
  command.exitOverride();
  command.configureOutput({
    writeOut: (text) => cli.say(text.replace(/\n$/, '')),
    writeErr: (text) => cli.note(text.replace(/\n$/, '')),
    outputError: (text, write) => write(text.replace(/^error: /, 'recredit: ')),
  });
  for (const child of command.commands) configure(child, cli);
}
