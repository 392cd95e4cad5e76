export { decodeJson, spansOfRequest } from './decode-json.js';
export { decodeProtobuf } from './decode-protobuf.js';
export { partialSuccessOf, responseJson, responseProtobuf, type PartialSuccess } from './partial-success.js';
export { readTrajectories, type TracedTrajectory } from './read-trajectories.js';
export type { Span } from './span.js';
export { TracesApart } from './traces-apart.js';
export { APART, type Refusal } from './trees.js';
