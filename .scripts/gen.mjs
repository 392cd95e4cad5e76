// `npm run gen`: writes what is generated and committed. The same sources give the same files.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateOutput } from '@gql.tada/cli-utils';
import { format } from 'prettier';
import { build } from './build.mjs';
import { errorCodesPage } from './gen/error-codes.mjs';
import { estimatorsPage, figuresOf, FIGURES_FILE } from './gen/estimators.mjs';
import { eventsPage } from './gen/events.mjs';
import { schemaSql } from './gen/schema-sql.mjs';
import { signalsPage } from './gen/signals.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const markdown = (text) => format(text, { parser: 'markdown', printWidth: 120, singleQuote: true });

await build();
// figures are measured, so they are taken over only when that is asked for
if (process.argv.includes('--figures')) {
  writeFileSync(join(root, FIGURES_FILE), await format(JSON.stringify(figuresOf(root)), { parser: 'json' }));
}
const { schemaText } = await import('../dist/apps/api/src/index.js');
const files = {
  'docs/api/schema.graphql': await schemaText(),
  'docs/api/error-codes.md': await markdown(errorCodesPage(root)),
  'docs/events.md': await markdown(await eventsPage(root)),
  'docs/estimators/README.md': await markdown(await estimatorsPage(root)),
  'docs/signals.md': await markdown(await signalsPage()),
  'migrations/schema.sql': await schemaSql(),
};
for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
// the types that the dashboard's queries have
await generateOutput({ tsconfig: join(root, 'apps/dashboard/tsconfig.json'), output: undefined });
process.exit(0); // pools of connections and threads of the imported libs keep nobody waiting
