import { messageOf, RecreditError } from '#lib/kernel';
import { CommanderError } from 'commander';
import type { Cli } from './cli.js';
import { program } from './program.js';

/** Runs one command line. @returns 0 done, 1 refused or failed, 2 wrong usage */
export async function runCli(cli: Cli, args: readonly string[]): Promise<number> {
  try {
    const recredit = await program(cli, args[0]);
    await recredit.parseAsync([...args], { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // commander has said why
    cli.note(`recredit: ${oneLine(error)}`);
    if (cli.environment.RECREDIT_DEBUG && error instanceof Error) cli.note(String(error.stack));
    return error instanceof RecreditError && error.code === 'usage.wrong' ? 2 : 1;
  }
}

/** Why it failed, in one line: messages of other programs may come with a whole report. */
function oneLine(error: unknown): string {
  const message = messageOf(error) || (error as NodeJS.ErrnoException | null)?.code || 'it failed without a reason';
  return message.replace(/\s*\n\s*/g, ' ').trim();
}
