export { defineJob, type Attempt, type Job } from './job.js';
export { Queue, type JobState, type QueueDepth, type QueueOptions, type Transaction } from './queue.js';
