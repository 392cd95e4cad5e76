import type { Command } from 'commander';
import { readConfig, type Config } from './config.js';
import { fitted } from './output/fitted.js';
import { printable } from './output/printable.js';
import { ProgressBar, type Screen } from './output/progress-bar.js';

/** What a command has to say: the one JSON document, and the same for a person. */
export interface Answer {
  readonly json: unknown;
  readonly text: string;
  /** 1: it ran, and what it looked at is not as it should be */
  readonly exitCode?: 0 | 1;
}

export interface Streams {
  readonly stdout: {
    write(text: string): unknown;
    /** of the screen; none where it is none */
    readonly columns?: number;
  };
  readonly stderr: Screen;
}

/** Options that many commands share. */
export interface CommonOptions {
  readonly json?: boolean;
  readonly embedded?: boolean;
}

/** What commands are given: where they are, and where they may write. Only this part of the project reads the environment. */
export class Cli {
  /** what the process will end with */
  exitCode = 0;

  constructor(
    readonly environment: Readonly<Record<string, string | undefined>>,
    readonly workingDirectory: string,
    private readonly streams: Streams,
  ) {}

  /** Read when it is needed: `recredit --help` works whatever the environment says. */
  get config(): Config {
    return readConfig(this.environment, this.workingDirectory);
  }

  /** Text for a person. */
  say(text: string): void {
    const { columns } = this.streams.stdout;
    this.streams.stdout.write(`${columns ? fitted(printable(text), columns) : printable(text)}\n`);
  }

  /** One line for a person, beside the answer. */
  note(text: string): void {
    this.streams.stderr.write(`${printable(text)}\n`);
  }

  progress(label: string, { json = false }: CommonOptions = {}): ProgressBar {
    return new ProgressBar(label, json ? null : this.streams.stderr);
  }

  /** The action of a command that answers once: as text, or with --json as one document. */
  answering<Arguments extends unknown[]>(
    act: (...args: Arguments) => Promise<Answer>,
  ): (...args: [...Arguments, Command]) => Promise<void> {
    return async (...args) => {
      const command = args.pop() as Command;
      const { json, text, exitCode = 0 } = await act(...(args as unknown as Arguments));
      this.exitCode = exitCode;
      if (command.opts<CommonOptions>().json) this.streams.stdout.write(`${JSON.stringify(json, null, 2)}\n`);
      else this.say(text);
    };
  }
}
