import { createClient as createSocket } from 'graphql-ws';
import { cacheExchange, Client, fetchExchange, subscriptionExchange } from 'urql';
import { lose, regain } from './link.js';

/** Tells the API that it was our own page that asked: see apps/api/src/dashboard/credentials.ts. */
export const OUR_OWN = { 'recredit-csrf': '1', 'content-type': 'application/json' };

/** Nobody waits longer than this for a connection to be tried again. */
const LONGEST_WAIT_MS = 5000;
/** A connection that is silent is asked whether it lives. */
const PING_MS = 10_000;
const PONG_MS = 5000;
const CLOSED_ON_PURPOSE = 1000;
const REQUEST_TIMEOUT = 4408;
/** Of what stands before the API, or of an API that stops, or that wants to be asked less often. */
const AWAY = new Set([429, 502, 503, 504]);

/** Asks the API that served the page, by the cookie of the session. */
export function createClient(onSignedOut: () => void): Client {
  const subscribe = createSubscriptions();
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetchOptions: { headers: OUR_OWN, credentials: 'same-origin' },
    fetch: async (...request) => {
      const response = await fetch(...request).catch((error: unknown) => {
        if (!(error instanceof DOMException)) lose('requests'); // an aborted one says nothing of the API
        throw error;
      });
      if (AWAY.has(response.status)) lose('requests');
      else regain('requests');
      if (response.status === 401) onSignedOut();
      return response;
    },
    exchanges: [
      cacheExchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => subscribe({ query, variables: variables as Record<string, unknown> }, sink),
        }),
      }),
    ],
  });
}

/** One socket while anybody listens. It is opened again when it breaks, and every subscription begins anew. */
function createSubscriptions() {
  const listening = new Set<symbol>();
  let open: WebSocket | null = null;
  let awaitingPong: ReturnType<typeof setTimeout> | undefined;
  const socket = createSocket({
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
    retryAttempts: Infinity,
    shouldRetry: () => true,
    retryWait: (tries) => {
      const wait = Math.min(LONGEST_WAIT_MS, 250 * 2 ** tries);
      return new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random() / 2)));
    },
    lazyCloseTimeout: 2000,
    keepAlive: PING_MS,
    on: {
      opened: (opened) => (open = opened as WebSocket),
      connected: () => regain('subscriptions'),
      closed: (event) => {
        clearTimeout(awaitingPong);
        if ((event as CloseEvent).code !== CLOSED_ON_PURPOSE && listening.size > 0) lose('subscriptions');
      },
      ping: (isReceived) => {
        if (!isReceived) awaitingPong = setTimeout(() => open?.close(REQUEST_TIMEOUT, 'no answer to a ping'), PONG_MS);
      },
      pong: (isReceived) => isReceived && clearTimeout(awaitingPong),
    },
  });
  return (request: { query: string; variables: Record<string, unknown> }, sink: object) => {
    const own = Symbol('a subscription');
    listening.add(own);
    const end = socket.subscribe(request, sink as never);
    return {
      unsubscribe: () => {
        end();
        listening.delete(own);
        if (listening.size === 0) regain('subscriptions');
      },
    };
  };
}
