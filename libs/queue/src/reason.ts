/** What stands in a job's output after it failed: an error made into JSON, or a text. */
export function reasonOf(output: unknown): string {
  if (typeof output === 'string') return SAID_BY_THE_QUEUE.get(output) ?? output;
  if (typeof output !== 'object' || output === null)
    return output === null || output === undefined ? 'no reason was given' : JSON.stringify(output);
  const { message, value } = output as { message?: unknown; value?: unknown };
  return reasonOf(message ?? value);
}

const SAID_BY_THE_QUEUE = new Map([
  ['job heartbeat timeout', 'its worker died or stopped answering'],
  ['job timed out', 'it took too long'],
  ['pg-boss shut down while active', 'its worker was shut down'],
]);
