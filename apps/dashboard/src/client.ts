import { createClient as createSocket } from 'graphql-ws';
import { cacheExchange, Client, fetchExchange, subscriptionExchange } from 'urql';

/** Tells the API that it was our own page that asked: see apps/api/src/dashboard/credentials.ts. */
export const OUR_OWN = { 'recredit-csrf': '1', 'content-type': 'application/json' };

/** Asks the API that served the page, by the cookie of the session. */
export function createClient(onSignedOut: () => void): Client {
  const socket = createSocket({
    url: `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`,
    retryAttempts: Infinity,
    shouldRetry: () => true,
    lazyCloseTimeout: 2000,
  });
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetchOptions: { headers: OUR_OWN, credentials: 'same-origin' },
    fetch: async (...request) => {
      const response = await fetch(...request);
      if (response.status === 401) onSignedOut();
      return response;
    },
    exchanges: [
      cacheExchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe({ query, variables: variables as Record<string, unknown> }, sink as never),
          }),
        }),
      }),
    ],
  });
}
