import { Command, Option } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { nameList, online, wrongUsage } from '../options.js';
import { instant } from '../output/numbers.js';
import { formatTable } from '../output/table.js';
import { withApi } from '../session.js';

const ROLES = ['ingest', 'read', 'analyze', 'admin'];
const FIELDS = 'id name projectId roles createdAt lastUsedAt revokedAt';

interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly projectId: string | null;
  readonly roles: readonly string[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

interface Listed {
  readonly apiKeys: { readonly edges: readonly { readonly node: KeyView }[] };
  readonly projects: { readonly edges: readonly { readonly node: { readonly id: string; readonly name: string } }[] };
}

const LIST = `query {
  apiKeys(first: 500) { edges { node { ${FIELDS} } } }
  projects(first: 500) { edges { node { id name } } }
}`;

interface CreateOptions extends CommonOptions {
  readonly roles: string[];
  readonly project?: string;
}

export function keysCommand(cli: Cli): Command {
  return new Command('keys')
    .description('API keys: who may send, read, analyse or administer')
    .addCommand(createCommand(cli))
    .addCommand(listCommand(cli))
    .addCommand(revokeCommand(cli));
}

function createCommand(cli: Cli): Command {
  return online(new Command('create'))
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
        const { roles, project = null } = options;
        const unknown = roles.filter((role) => !ROLES.includes(role));
        if (unknown.length > 0) throw wrongUsage(`--roles: ${unknown.join(', ')} is not one of ${ROLES.join(', ')}`);
        const input = { name, project, roles: roles.map((role) => role.toUpperCase()) };
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

function revokeCommand(cli: Cli): Command {
  return online(new Command('revoke'))
    .description('end a key; what it is used for is refused within a second')
    .argument('<id>', 'its id: what stands between the first two underscores')
    .action(
      cli.answering(async (given: string, options: CommonOptions) => {
        const id = /^rk_([0-9a-f]+)_/.exec(given)?.[1] ?? given;
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
    [['key', 'name', 'roles', 'project', 'made (UTC)', 'last used', '']],
    keys.map(({ id, name, roles, projectId, createdAt, lastUsedAt, revokedAt }) => [
      id,
      name,
      roles.join(', '),
      projectId === null ? 'all' : (nameOf.get(projectId) ?? projectId),
      instant(createdAt),
      instant(lastUsedAt),
      revokedAt ? `revoked ${instant(revokedAt)}` : '',
    ]),
    ['left', 'left', 'left', 'left', 'left', 'left', 'left'],
  );
}
