import { Cli } from './cli.js';
import { runCli } from './run-cli.js';

// a reader that has seen enough (`recredit runs | head`) closes the pipe
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const cli = new Cli(process.env, process.cwd(), { stdout: process.stdout, stderr: process.stderr });
const exitCode = await runCli(cli, process.argv.slice(2));
// what is written is out before the process is
await new Promise((written) => void process.stdout.write('', written));
process.exit(exitCode);
