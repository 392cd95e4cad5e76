import type { ApiPorts } from '#app/api';

/** What a test of the API does not come near: whoever does all the same fails by name. Real ports are spread over them. */
export const UNUSED_PORTS: Pick<ApiPorts, 'log' | 'queue' | 'store'> = {
  log: unused('log'),
  queue: unused('queue'),
  store: unused('store'),
};

function unused<Name extends keyof ApiPorts>(name: Name): NonNullable<ApiPorts[Name]> {
  const refuse = (_: object, property: string | symbol) => {
    throw new Error(`this test has no ${name}, and ${String(property)} of it was asked for`);
  };
  return new Proxy({}, { get: refuse }) as NonNullable<ApiPorts[Name]>;
}
