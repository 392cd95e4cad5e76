import { Command, Option } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { nameList, online, rate, wrongUsage } from '../options.js';
import { instant } from '../output/numbers.js';
import { formatTable } from '../output/table.js';
import { withApi } from '../session.js';

const ROLES = ['ingest', 'read', 'analyze', 'admin'];
const FIELDS = 'id name projectId roles createdAt lastUsedAt revokedAt requestsPerSecond eventsPerSecond';

interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly projectId: string | null;
  readonly roles: readonly string[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
  readonly requestsPerSecond: number | null;
  readonly eventsPerSecond: number | null;
}

interface Listed {
  readonly apiKeys: { readonly edges: readonly { readonly node: KeyView }[] };
  readonly projects: { readonly edges: readonly { readonly node: { readonly id: string; readonly name: string } }[] };
}

const LIST = `query {
  apiKeys(first: 500) { edges { node { ${FIELDS} } } }
  projects(first: 500) { edges { node { id name } } }
}`;

interface Limits {
  readonly requestsPerSecond?: number;
  readonly eventsPerSecond?: number;
}

interface CreateOptions extends CommonOptions, Limits {
  readonly roles: string[];
  readonly project?: string;
}

export function keysCommand(cli: Cli): Command {
  return new Command('keys')
    .description('API keys: who may send, read, analyse or administer')
    .addCommand(createCommand(cli))
    .addCommand(listCommand(cli))
    .addCommand(limitCommand(cli))
    .addCommand(revokeCommand(cli));
}

function createCommand(cli: Cli): Command {
  return limited(online(new Command('create')))
    .description('make a key; its text is shown this once')
    .argument('[name]', 'what it is for', 'unnamed')
    .addOption(
      new Option('--roles <a,b>', `out of ${ROLES.join(', ')}`)
        .argParser(nameList)
        .default(['ingest', 'read', 'analyze'], 'ingest,read,analyze'),
    )
    .option('--project <name>', 'of one project only')
    .action(
      cli.answering(async (name: string, options: CreateOptions) => {
        const { roles, project = null, requestsPerSecond = null, eventsPerSecond = null } = options;
        const unknown = roles.filter((role) => !ROLES.includes(role));
        if (unknown.length > 0) throw wrongUsage(`--roles: ${unknown.join(', ')} is not one of ${ROLES.join(', ')}`);
        const limits = { requestsPerSecond, eventsPerSecond };
        const input = { name, project, roles: roles.map((role) => role.toUpperCase()), ...limits };
        const { created } = await withApi(cli, options, (api) =>
          api.query<{ created: { key: KeyView; text: string } }>(
            `mutation ($input: CreateApiKeyInput!) { created: createApiKey(input: $input) { text key { ${FIELDS} } } }`,
            { input },
          ),
        );
        return { json: { ...shown(created.key), key: created.text }, text: created.text };
      }),
    );
}

function listCommand(cli: Cli): Command {
  return online(new Command('list'))
    .description('all keys, revoked ones too; never their secrets')
    .action(
      cli.answering(async (options: CommonOptions) => {
        const { apiKeys, projects } = await withApi(cli, options, (api) => api.query<Listed>(LIST));
        const keys = apiKeys.edges.map(({ node }) => shown(node));
        const nameOf = new Map(projects.edges.map(({ node }) => [node.id, node.name]));
        return { json: { keys }, text: keysText(keys, nameOf) };
      }),
    );
}

function limitCommand(cli: Cli): Command {
  return limited(online(new Command('limit')))
    .description('how fast a key may be used; what is not said is as the platform is set')
    .argument('<id>', 'its id: what stands between the first two underscores')
    .action(
      cli.answering(async (given: string, options: CommonOptions & Limits) => {
        const { requestsPerSecond = null, eventsPerSecond = null } = options;
        const variables = { id: keyId(given), limits: { requestsPerSecond, eventsPerSecond } };
        const { key } = await withApi(cli, options, (api) =>
          api.query<{ key: KeyView }>(
            `mutation ($id: ID!, $limits: KeyLimitsInput!) { key: limitApiKey(id: $id, limits: $limits) { ${FIELDS} } }`,
            variables,
          ),
        );
        return { json: shown(key), text: `key ${key.id} (${key.name}): ${limitText(key) || 'as the platform is set'}` };
      }),
    );
}

function limited(command: Command): Command {
  return command
    .option('--requests-per-second <n>', 'at most so many requests a second; 0: no limit', rate)
    .option('--events-per-second <n>', 'at most so many events a second; 0: no limit', rate);
}

/** What the key itself says; '' where it says nothing. */
function limitText({
  requestsPerSecond,
  eventsPerSecond,
}: Pick<KeyView, 'requestsPerSecond' | 'eventsPerSecond'>): string {
  const said = (rate: number | null, what: string) =>
    rate === null ? [] : [rate === 0 ? `any number of ${what}` : `${rate} ${what}/s`];
  return [...said(requestsPerSecond, 'requests'), ...said(eventsPerSecond, 'events')].join(', ');
}

const keyId = (given: string) => /^rk_([0-9a-f]+)_/.exec(given)?.[1] ?? given;

function revokeCommand(cli: Cli): Command {
  return online(new Command('revoke'))
    .description('end a key; what it is used for is refused within a second')
    .argument('<id>', 'its id: what stands between the first two underscores')
    .action(
      cli.answering(async (given: string, options: CommonOptions) => {
        const id = keyId(given);
        const { revoked } = await withApi(cli, options, (api) =>
          api.query<{ revoked: KeyView }>(`mutation ($id: ID!) { revoked: revokeApiKey(id: $id) { ${FIELDS} } }`, {
            id,
          }),
        );
        return { json: shown(revoked), text: `key ${revoked.id} (${revoked.name}) is revoked` };
      }),
    );
}

function shown(key: KeyView): KeyView {
  return { ...key, roles: key.roles.map((role) => role.toLowerCase()) };
}

function keysText(keys: readonly KeyView[], nameOf: ReadonlyMap<string, string>): string {
  return formatTable(
    [['key', 'name', 'roles', 'project', 'limits', 'made (UTC)', 'last used', '']],
    keys.map(({ id, name, roles, projectId, createdAt, lastUsedAt, revokedAt, ...limits }) => [
      id,
      name,
      roles.join(', '),
      projectId === null ? 'all' : (nameOf.get(projectId) ?? projectId),
      limitText(limits),
      instant(createdAt),
      instant(lastUsedAt),
      revokedAt ? `revoked ${instant(revokedAt)}` : '',
    ]),
    ['left', 'left', 'left', 'left', 'left', 'left', 'left', 'left'],
  );
}
