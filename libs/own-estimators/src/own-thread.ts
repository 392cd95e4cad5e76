import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import {
  AS_RECORDED,
  parseParams,
  type Estimate,
  type NoEstimate,
  type Outcome,
  type TrajectoryRecords,
} from '#lib/credit';
import type { TrajectoryBatch } from '#lib/dataset';
import { RecreditError } from '#lib/kernel';
import type { Description } from './description.js';
import { syntaxErrorLine } from './import-module.js';
import { listedEstimator, type OwnEstimator, type OwnModule } from './own-estimator.js';
import type { Answer, Question } from './questions.js';

type Params = Readonly<Record<string, unknown>>;

/** What the import of a module may take at start. */
const IMPORT_SECONDS = 10;
const MAX_HEAP_MB = 2048;

const THREAD = new URL('./estimator-thread.js', import.meta.url);

/**
 * A thread in which users' modules run, one question at a time. What throws, ends its thread, runs out of memory or takes
 * too long is a reason and does no other harm: the thread is ended, and the next question gets a new one.
 */
export class OwnThread {
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();

  /** What a module says of itself. @throws RecreditError `estimator.invalid` with its file and the reason */
  async describe(module: OwnModule): Promise<Description> {
    return (await this.#ask({ kind: 'describe', module }, IMPORT_SECONDS)) as Description;
  }

  /** Its credit, or what it lacks. @throws RecreditError `estimator.invalid` */
  async run(own: OwnEstimator, trajectories: TrajectoryBatch, params: Params): Promise<Outcome> {
    return (await this.#ask({ kind: 'run', module: own, trajectories, params }, limitOf(own))) as Outcome;
  }

  /** Its credit for records, nested like them. @throws RecreditError `estimator.invalid`, `params.invalid` */
  async estimate(
    own: OwnEstimator,
    records: TrajectoryRecords,
    params: Params,
    identity = AS_RECORDED,
  ): Promise<Estimate | NoEstimate> {
    const checked = parseParams(listedEstimator(own), params);
    return (await this.#ask({ kind: 'estimate', module: own, records, params: checked, identity }, limitOf(own))) as
      Estimate | NoEstimate;
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #ask(question: Question, seconds: number): Promise<unknown> {
    const answered = this.#last.then(() => this.#askNow(question, seconds));
    this.#last = answered.catch(() => {});
    return answered;
  }

  async #askNow({ module: { file, hash, source }, ...rest }: Question, seconds: number): Promise<unknown> {
    const module = { file, hash, source };
    const isRun = rest.kind !== 'describe';
    const worker = (this.#worker ??= await this.#start());
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const end = (problem: string) => {
      this.#worker = null;
      void worker.terminate();
      resolve({ problem, isSyntax: false });
    };
    const timer = setTimeout(
      () => end(`it took more than ${seconds} s${isRun ? ' (its limitSeconds)' : ' to import'}, and was ended`),
      seconds * 1000,
    );
    const died = (error: Error) => end(`its thread died: ${error.message}`);
    const left = () => end('it ended its thread');
    worker.ref();
    worker.once('message', resolve).once('error', died).once('exit', left);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
    worker.postMessage({ ...rest, module });
    const answer = await promise;
    clearTimeout(timer);
    worker.off('message', resolve).off('exit', left).off('error', died);
    worker.unref();
    if ('value' in answer) return answer.value;
    const line = answer.isSyntax ? await syntaxErrorLine(module) : null;
    throw new RecreditError('estimator.invalid', `${file}${line ? `:${line}` : ''}: ${answer.problem}`, { file, hash });
  }

  /** Loading what is ours does not count as time of the module. */
  async #start(): Promise<Worker> {
    const worker = new Worker(THREAD, { stdout: true, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    // a document on standard output stays one, whatever a module prints
    worker.stdout.pipe(process.stderr, { end: false });
    worker.on('error', () => {}); // what it does between questions, or when it is ended, is nobody's business
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    await once(worker, 'message');
    return worker;
  }
}

const limitOf = ({ description }: OwnEstimator) => description.limitSeconds;
