import { Command } from 'commander';
import type { Cli, CommonOptions } from '../cli.js';
import { online, wholeNumber } from '../options.js';
import { count, instant, NOTHING } from '../output/numbers.js';
import { formatTable } from '../output/table.js';
import { withApi } from '../session.js';

const FIELDS = 'id projectId url createdAt deletedAt';
const PAGE = 500;
const NO_WEBHOOK = 'no webhook yet: `recredit webhooks create URL` makes one';
const NEEDS_ADMIN = '\nIt needs an admin key.';

interface WebhookView {
  readonly id: string;
  readonly projectId: string;
  readonly url: string;
  readonly createdAt: string;
  readonly deletedAt: string | null;
}

interface DeliveryView {
  readonly id: string;
  readonly run: string;
  readonly alert: string;
  readonly edge: string;
  readonly state: string;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly tries: readonly {
    readonly at: string;
    readonly status: number | null;
    readonly reason: string | null;
    readonly milliseconds: number;
  }[];
}

interface Edges<Node> {
  readonly edges: readonly { readonly node: Node }[];
}

export function webhooksCommand(cli: Cli): Command {
  return new Command('webhooks')
    .description('addresses that are told when alerts open and close')
    .addCommand(createCommand(cli))
    .addCommand(listCommand(cli))
    .addCommand(deliveriesCommand(cli))
    .addCommand(againCommand(cli))
    .addCommand(deleteCommand(cli));
}

function createCommand(cli: Cli): Command {
  return online(new Command('create'))
    .description('tell an address of the alerts of a project; the secret is shown this once')
    .argument('<url>', 'http or https')
    .option('--project <name>', 'whose alerts', 'default')
    .addHelpText('after', NEEDS_ADMIN)
    .action(
      cli.answering(async (url: string, options: CommonOptions & { readonly project: string }) => {
        const { created } = await withApi(cli, options, (api) =>
          api.query<{ created: { webhook: WebhookView; secret: string } }>(
            `mutation ($input: CreateWebhookInput!) { created: createWebhook(input: $input) { secret webhook { ${FIELDS} } } }`,
            { input: { url, project: options.project } },
          ),
        );
        const { webhook, secret } = created;
        return { json: { ...webhook, secret }, text: `webhook ${webhook.id}\n${secret}` };
      }),
    );
}

function listCommand(cli: Cli): Command {
  return online(new Command('list'))
    .description('all webhooks, deleted ones too; never their secrets')
    .addHelpText('after', NEEDS_ADMIN)
    .action(
      cli.answering(async (options: CommonOptions) => {
        const listed = await withApi(cli, options, (api) =>
          api.query<{ webhooks: Edges<WebhookView>; projects: Edges<{ id: string; name: string }> }>(
            `query { webhooks(first: ${PAGE}) { edges { node { ${FIELDS} } } } projects(first: ${PAGE}) { edges { node { id name } } } }`,
          ),
        );
        const webhooks = listed.webhooks.edges.map(({ node }) => node);
        const nameOf = new Map(listed.projects.edges.map(({ node }) => [node.id, node.name]));
        const rows = webhooks.map(({ id, url, projectId, createdAt, deletedAt }) => [
          id,
          nameOf.get(projectId) ?? projectId,
          url,
          instant(createdAt),
          deletedAt ? `deleted ${instant(deletedAt)}` : '',
        ]);
        const head = [['webhook', 'project', 'url', 'made (UTC)', '']];
        const table = formatTable(head, rows, ['left', 'left', 'left', 'left', 'left']);
        return { json: { webhooks }, text: rows.length > 0 ? table : NO_WEBHOOK };
      }),
    );
}

function deliveriesCommand(cli: Cli): Command {
  return online(new Command('deliveries'))
    .description('what a webhook was told, newest first, and what it answered')
    .argument('<webhook>', 'its id')
    .option('--first <n>', 'how many, up to 500', wholeNumber, 50)
    .addHelpText('after', NEEDS_ADMIN)
    .action(
      cli.answering(async (webhook: string, options: CommonOptions & { readonly first: number }) => {
        const { webhook: found } = await withApi(cli, options, (api) =>
          api.query<{ webhook: { deliveries: Edges<DeliveryView> } | null }>(
            `query ($webhook: ID!, $first: Int!) { webhook(id: $webhook) { deliveries(first: $first) { edges { node {
               id run alert edge state createdAt finishedAt tries { at status reason milliseconds } } } } } }`,
            { webhook, first: options.first },
          ),
        );
        const deliveries = found?.deliveries.edges.map(({ node }) => node) ?? [];
        return { json: { deliveries }, text: deliveriesText(deliveries) };
      }),
    );
}

function againCommand(cli: Cli): Command {
  return online(new Command('again'))
    .description('send a delivery again, whatever came of it before')
    .argument('<delivery>', 'its id')
    .addHelpText('after', NEEDS_ADMIN)
    .action(
      cli.answering(async (id: string, options: CommonOptions) => {
        const { delivery } = await withApi(cli, options, (api) =>
          api.query<{ delivery: { readonly id: string; readonly state: string } }>(
            `mutation ($id: ID!) { delivery: deliverWebhookAgain(delivery: $id) { id state } }`,
            { id },
          ),
        );
        return {
          json: { ...delivery, state: delivery.state.toLowerCase() },
          text: `delivery ${delivery.id} is sent again`,
        };
      }),
    );
}

function deleteCommand(cli: Cli): Command {
  return online(new Command('delete'))
    .description('end a webhook; what was not delivered is given up, its log stays')
    .argument('<webhook>', 'its id')
    .addHelpText('after', NEEDS_ADMIN)
    .action(
      cli.answering(async (id: string, options: CommonOptions) => {
        const { webhook } = await withApi(cli, options, (api) =>
          api.query<{ webhook: WebhookView }>(`mutation ($id: ID!) { webhook: deleteWebhook(id: $id) { ${FIELDS} } }`, {
            id,
          }),
        );
        return { json: webhook, text: `webhook ${webhook.id} is deleted` };
      }),
    );
}

function deliveriesText(deliveries: readonly DeliveryView[]): string {
  if (deliveries.length === 0) return 'it was told of nothing yet';
  const rows = deliveries.map(({ id, createdAt, edge, alert, state, tries }) => [
    instant(createdAt),
    edge.toLowerCase(),
    alert,
    state.toLowerCase(),
    count(tries.length),
    tries.at(-1)?.reason ?? (tries.length > 0 ? `it answered ${tries.at(-1)!.status}` : NOTHING),
    id,
  ]);
  const head = [['made (UTC)', 'edge', 'alert', 'state', 'tries', 'the last one', 'delivery']];
  return formatTable(head, rows, ['left', 'left', 'left', 'left', 'right', 'left', 'left']);
}
