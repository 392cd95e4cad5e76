import type { IncomingMessage } from 'node:http';
import { CloseCode, handleProtocols, type Server } from 'graphql-ws';
import type { Logger } from 'pino';
import { WebSocketServer, type WebSocket } from 'ws';

const MAX_MESSAGE_BYTES = 64 * 1024;
const PING_MS = 12_000;

/** What there is of a connection besides its messages. */
export interface SocketExtra {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
}

/** For upgrades to graphql-ws. */
export function socketServer(): WebSocketServer {
  return new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, handleProtocols });
}

/** Ties a websocket to graphql-ws. Its own adapter for `ws` writes to the console whatever strangers send. */
export function serveSocket<Extra extends SocketExtra>(server: Server<Extra>, extra: Extra, logger: Logger): void {
  const { socket } = extra;
  const stopPinging = pingWhileOpen(socket);
  const closed = server.opened(
    {
      protocol: socket.protocol,
      send: (data) =>
        new Promise((resolve, reject) => {
          if (socket.readyState !== socket.OPEN) return resolve();
          socket.send(data, (error) => (error ? reject(error) : resolve()));
        }),
      close: (code, reason) => socket.close(code, reason),
      onMessage: (handle) =>
        socket.on('message', (data: Buffer) => {
          handle(data.toString()).catch((error: unknown) => {
            logger.error({ err: error }, 'a message of a websocket could not be handled');
            socket.close(CloseCode.InternalServerError, 'Internal server error');
          });
        }),
    },
    extra,
  );
  socket.on('error', () => {}); // a frame that is none: ws closes with the code that says so
  socket.once('close', (code, reason) => {
    stopPinging();
    void closed(code, String(reason));
  });
}

/** A client that is gone without a word is noticed, and proxies keep the connection. */
function pingWhileOpen(socket: WebSocket): () => void {
  let isAlive = true;
  socket.on('pong', () => (isAlive = true));
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}
