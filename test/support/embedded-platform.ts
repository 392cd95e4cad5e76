// A process that starts the embedded Postgres of a home for embedded-postgres.int-spec.ts: <home> <how it ends>.
import { startEmbeddedPostgres } from '#lib/storage';

const [home = '', ending] = process.argv.slice(2);
const server = await startEmbeddedPostgres({ home, port: 0, durable: false });
process.send?.({ url: server.url, pid: server.pid() });

if (ending === 'exit') process.exit(3);
if (ending === 'throw')
  setImmediate(() => {
    throw new Error('not caught');
  });
if (ending === 'stop') await server.stop().then(() => process.disconnect());
if (ending === 'handler') process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
setTimeout(() => {}, ending === 'stop' ? 0 : 60_000);
