export { createApi, startApi, type Api, type ApiOptions } from './api.js';
export { letRequestsDieYoung, weighBuffersWithHeap } from './collector.js';
export { Estimation } from './estimates/estimation.js';
export { BodyChecks } from './ingest/body-checks.js';
export type { ApiPorts } from './ports.js';
export { schemaText } from './schema-text.js';
