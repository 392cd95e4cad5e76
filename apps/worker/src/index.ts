export { startWorker, type Worker, type WorkerSettings } from './worker.js';
