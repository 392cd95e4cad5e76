import { readFileSync } from 'node:fs';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { expect, it } from 'vitest';
import { testApi } from '../../../test/support/api.js';
import { schemaText } from './schema-text.js';

it('docs/api/schema.graphql is what the code gives (npm run gen), and what is served', async () => {
  const text = await schemaText();
  expect(readFileSync('docs/api/schema.graphql', 'utf8')).toBe(text);
  const api = await testApi();
  const { schema } = api.app.get(GraphQLSchemaHost);
  await api.close();
  expect(`${printSchema(lexicographicSortSchema(schema))}\n`).toBe(text);
});
