import { parentPort } from 'node:worker_threads';
import { estimate, runEstimator } from '#lib/credit';
import { problemIn } from './import-module.js';
import { loadModule } from './load-module.js';
import type { OwnModule } from './own-estimator.js';
import type { Answer, Question } from './questions.js';

// The thread in which a user's module is imported and runs. It is ended from outside when it takes too long.

const loaded = new Map<string, ReturnType<typeof loadModule>>();

function load(module: OwnModule): ReturnType<typeof loadModule> {
  const found = loaded.get(module.hash) ?? loadModule(module);
  loaded.set(module.hash, found);
  return found;
}

async function answer(question: Question): Promise<unknown> {
  const { description, estimator } = await load(question.module);
  switch (question.kind) {
    case 'describe':
      return description;
    case 'run':
      return runEstimator(estimator, question.trajectories, question.params);
    case 'estimate':
      return estimate(estimator, question.records, question.params, question.identity);
  }
}

parentPort!.on('message', async (question: Question) => {
  let reply: Answer;
  try {
    reply = { value: await answer(question) };
  } catch (error) {
    reply = { problem: problemIn(question.module, error), isSyntax: error instanceof SyntaxError };
  }
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  parentPort!.postMessage(reply);
});

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
parentPort!.postMessage('ready');
