const OLDEST_NODE = [22, 15];

// a reader that has seen enough (`recredit runs | head`) closes the pipe
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  process.stderr.write(
    `recredit: needs Node ${OLDEST_NODE.join('.')} or newer, found ${process.version}: run it by npm, which brings Node 24\n`,
  );
  process.exit(1);
}

// an older Node would fail on the imports themselves
const [{ Cli }, { runCli }] = await Promise.all([import('./cli.js'), import('./run-cli.js')]);
const cli = new Cli(process.env, process.cwd(), { stdout: process.stdout, stderr: process.stderr });
const exitCode = await runCli(cli, process.argv.slice(2));
// what is written is out before the process is
await new Promise((written) => void process.stdout.write('', written));
process.exit(exitCode);
