export { createApi, startApi, type Api, type ApiOptions } from './api.js';
export type { ApiPorts } from './ports.js';
export { schemaText } from './schema-text.js';
