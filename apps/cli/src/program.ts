import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { Command } from 'commander';
import type { Cli } from './cli.js';

type Commands = Readonly<Record<string, () => Promise<(cli: Cli) => Command>>>;

const { version } = JSON.parse(readFileSync(findPackageJSON(import.meta.url)!, 'utf8')) as { version: string };

/** Loaded when they are called: what serves the platform alone takes half a second, and most commands need none of it. */
const GROUPS: Readonly<Record<string, Commands>> = {
  Start: {
    serve: async () => (await import('./commands/serve.command.js')).serveCommand,
    demo: async () => (await import('./commands/demo.command.js')).demoCommand,
    doctor: async () => (await import('./commands/doctor.command.js')).doctorCommand,
  },
  'Bring in and look': {
    import: async () => (await import('./commands/import.command.js')).importCommand,
    label: async () => (await import('./commands/label.command.js')).labelCommand,
    sync: async () => (await import('./commands/sync.command.js')).syncCommand,
    runs: async () => (await import('./commands/runs.command.js')).runsCommand,
    run: async () => (await import('./commands/runs.command.js')).runCommand,
    export: async () => (await import('./commands/export.command.js')).exportCommand,
  },
  'Assign credit again': {
    estimators: async () => (await import('./commands/estimators.command.js')).estimatorsCommand,
    analyze: async () => (await import('./commands/analyze.command.js')).analyzeCommand,
    compare: async () => (await import('./commands/compare.command.js')).compareCommand,
  },
  'Judge a run': {
    labels: async () => (await import('./commands/labels.command.js')).labelsCommand,
    diagnose: async () => (await import('./commands/diagnose.command.js')).diagnoseCommand,
    audit: async () => (await import('./commands/audit.command.js')).auditCommand,
    nearest: async () => (await import('./commands/nearest.command.js')).nearestCommand,
    plan: async () => (await import('./commands/plan.command.js')).planCommand,
  },
  'Without a platform': {
    estimate: async () => (await import('./commands/estimate.command.js')).estimateCommand,
    vectors: async () => (await import('./commands/vectors.command.js')).vectorsCommand,
    shard: async () => (await import('./commands/shard.command.js')).shardCommand,
  },
  Keep: {
    verify: async () => (await import('./commands/verify.command.js')).verifyCommand,
    rebuild: async () => (await import('./commands/verify.command.js')).rebuildCommand,
    backup: async () => (await import('./commands/backup.command.js')).backupCommand,
    restore: async () => (await import('./commands/backup.command.js')).restoreCommand,
    erase: async () => (await import('./commands/erase.command.js')).eraseCommand,
    projects: async () => (await import('./commands/projects.command.js')).projectsCommand,
    keys: async () => (await import('./commands/keys.command.js')).keysCommand,
    webhooks: async () => (await import('./commands/webhooks.command.js')).webhooksCommand,
  },
};

/**
 * The `recredit` command line.
 *
 * @param wanted the command that is going to run; where there is none of that name, all of them, for the help
 */
export async function program(cli: Cli, wanted: string | undefined): Promise<Command> {
  const recredit = new Command('recredit')
    .description('Tracks reinforcement-learning training of LLM agents and assigns credit again, after the fact.')
    .version(version)
    .helpCommand(false)
    .addHelpText('after', '\nRECREDIT_HOME, RECREDIT_URL and the others: docs/guides/command-line.md');
  const isKnown = Object.values(GROUPS).some((commands) => Object.keys(commands).includes(wanted ?? ''));
  for (const [group, commands] of Object.entries(GROUPS)) {
    recredit.commandsGroup(`${group}:`);
    for (const [name, load] of Object.entries(commands)) {
      if (!isKnown || name === wanted) recredit.addCommand((await load())(cli));
    }
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
