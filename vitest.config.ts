import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** `#lib/x` names the source of a lib here; Node resolves the same name to its build. */
const alias = [
  { find: /^#lib\/(.+)$/, replacement: `${import.meta.dirname}/libs/$1/src/index.ts` },
  { find: /^#app\/(.+)$/, replacement: `${import.meta.dirname}/apps/$1/src/index.ts` },
  // Vite would take graphql's ES modules, Mercurius and Nest take its CommonJS: two copies do not know each other's types
  { find: /^graphql$/, replacement: 'graphql/index.js' },
  { find: '#migrations', replacement: `${import.meta.dirname}/migrations/index.ts` },
];

/** What is waited for may take its time on a busy machine: polling gives up after one second by itself. */
const patience = { poll: { timeout: 15_000 } };

export default defineConfig({
  test: {
    projects: [
      {
        resolve: { alias },
        test: {
          name: 'unit',
          // Vitest leaves a core to itself, of two as well, though it has nothing to do there
          maxWorkers: Math.max(2, availableParallelism() - 1),
          // and wants the projects of one group to have equally many
          sequence: { groupOrder: 1 },
          expect: patience,
          setupFiles: 'test/support/fast-check.setup.ts',
          include: ['libs/**/*.spec.ts', 'apps/**/*.spec.ts', 'test/*.spec.ts'],
          exclude: ['**/node_modules/**', '**/*.int-spec.ts', '**/*.e2e-spec.ts'],
          testTimeout: 20_000,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'int',
          expect: patience,
          setupFiles: 'test/support/fast-check.setup.ts',
          include: ['libs/**/*.int-spec.ts', 'apps/**/*.int-spec.ts'],
          globalSetup: 'test/support/postgres.setup.ts',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'e2e',
          expect: patience,
          include: ['test/{e2e,faults}/**/*.e2e-spec.ts'],
          testTimeout: 240_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
