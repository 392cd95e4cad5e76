import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RunOptions, RunReport } from '#lib/sdk';
import type { Cluster } from './cluster.js';
import { readLedger, type Ledger } from './ledger.js';
import { until } from './served-platform.js';

const MAIN = join(import.meta.dirname, 'ledger-trainer.mjs');

/** Trainers with the SDK that write to one run through the proxy, each with a ledger. One that was killed has a next life. */
export class LedgerTrainers {
  readonly ledgers: string[] = [];
  readonly #children: { child: ChildProcess; ledger: string; said: () => string }[] = [];
  #lives = 0;

  constructor(
    private readonly cluster: Cluster,
    readonly run: string,
    private readonly seed: string,
    private readonly pauseMs: number,
  ) {}

  /** A ledger for somebody else who writes to the run. */
  newLedger(name: string): string {
    const ledger = this.cluster.ledger(`${this.run}-${name}`);
    this.ledgers.push(ledger);
    return ledger;
  }

  start(count: number): void {
    for (let i = 0; i < count; i++) {
      const prefix = `w${this.#lives++}`;
      const options: RunOptions = {
        project: 'default',
        name: this.run,
        url: this.cluster.proxy.url,
        apiKey: this.cluster.first.key,
        spool: this.cluster.spool,
        timeoutMs: 20_000,
        sealAt: { events: 60, bytes: 1e6 },
        sealAfterMs: 40,
        backoff: { baseMs: 20, capMs: 500 },
      };
      const ledger = this.newLedger(prefix);
      const argument = { options, prefix, ledger, seed: `${this.seed}/${prefix}`, pauseMs: this.pauseMs };
      const child = spawn(process.execPath, [MAIN, JSON.stringify(argument)], {
        env: { PATH: process.env.PATH, ...this.cluster.environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
      this.#children.push({ child, ledger, said: () => said });
    }
  }

  ledger(runId: string): Ledger {
    return readLedger(this.ledgers, runId);
  }

  get alive(): ChildProcess[] {
    return this.#children.map(({ child }) => child).filter(isAlive);
  }

  async kill(count = Infinity): Promise<void> {
    const victims = this.alive.slice(0, count);
    const ended = victims.map((child) => once(child, 'exit'));
    for (const child of victims) child.kill('SIGKILL');
    await Promise.all(ended);
  }

  /** Lets all that live deliver what they have. @returns what those say who could not */
  async finish(): Promise<string[]> {
    const findings: string[] = [];
    for (const { child, ledger, said } of this.#children) {
      if (child.signalCode === 'SIGKILL') continue;
      await until('a trainer records', 180_000, () => existsSync(ledger) && statSync(ledger).size > 0);
      const ended = isAlive(child) ? once(child, 'close') : null;
      child.kill('SIGTERM');
      await ended;
      const report = said() ? (JSON.parse(said()) as RunReport) : null;
      const isDone = report && report.unsent + report.refused + report.dropped === 0;
      if (!isDone) findings.push(`a trainer ended with ${child.exitCode}: ${JSON.stringify(report)}`);
    }
    return findings;
  }
}

const isAlive = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;
