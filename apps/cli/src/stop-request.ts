/** npm passes a signal on that the terminal has sent already: what follows so soon is the same request. */
const ECHO_MS = 1000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Waits for the user or the system to ask for the end. The first signal asks; a second Ctrl-C, meant as one, ends the
 * process at once.
 */
export function stopRequest(): { readonly requested: Promise<void> } {
  const request = Promise.withResolvers<void>();
  let requestedAt: number | null = null;
  const heard = (signal: NodeJS.Signals) => {
    if (requestedAt !== null && signal === 'SIGINT' && performance.now() - requestedAt > ECHO_MS) process.exit(130);
    requestedAt ??= performance.now();
    request.resolve();
  };
  for (const signal of SIGNALS) process.on(signal, heard);
  return { requested: request.promise };
}
