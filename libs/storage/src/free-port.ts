import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** The wanted port of 127.0.0.1 when nobody listens there, else one that is free now. */
export async function freePort(wanted: number): Promise<number> {
  return (await tryPort(wanted)) ?? (await tryPort(0))!;
}

async function tryPort(port: number): Promise<number | null> {
  const server = createServer();
  try {
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch {
    return null;
  } finally {
    server.close();
  }
}
