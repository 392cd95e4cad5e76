export { deliverAgain, undelivered, type DeliverPorts, type Telling } from './deliver.js';
export { deliverWebhookJob } from './jobs.js';
export { noteDeliveries, type AlertNotice } from './notice.js';
export type { Try } from './send.js';
export { createWebhook, deleteWebhook, listWebhooks, MAX_WEBHOOKS, type Webhook } from './webhooks.js';
