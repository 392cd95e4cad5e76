import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kind, OperationTypeNode, parse, print, type DefinitionNode, type FragmentDefinitionNode } from 'graphql';

const PAGES = fileURLToPath(new URL('../../../../apps/dashboard/src/', import.meta.url));
const DOCUMENT = /graphql\(\s*`([^`]+)`/g;

/** Every query that a page of the dashboard sends, with its fragments, by name: read from the source of the pages. */
export async function dashboardDocuments(): Promise<ReadonlyMap<string, string>> {
  const files = (await readdir(PAGES, { recursive: true })).filter((file) => /\.tsx?$/.test(file));
  const sources = await Promise.all(files.toSorted().map((file) => readFile(join(PAGES, file), 'utf8')));
  const written = sources.flatMap((source) => [...source.matchAll(DOCUMENT)].map(([, text]) => text));
  const definitions = written.flatMap((text) => parse(text, { noLocation: true }).definitions);
  const fragments = new Map(definitions.filter(isFragment).map((fragment) => [fragment.name.value, fragment]));
  return new Map(
    definitions.flatMap((definition) => {
      if (definition.kind !== Kind.OPERATION_DEFINITION || definition.operation !== OperationTypeNode.QUERY) return [];
      return [[definition.name?.value ?? '', withFragments(definition, fragments)] as const];
    }),
  );
}

function isFragment(definition: DefinitionNode): definition is FragmentDefinitionNode {
  return definition.kind === Kind.FRAGMENT_DEFINITION;
}

function withFragments(operation: DefinitionNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): string {
  const texts = new Map([['', sent(operation)]]);
  for (const text of texts.values()) {
    for (const [, name] of text.matchAll(/\.\.\.(\w+)/g)) {
      const fragment = fragments.get(name);
      if (fragment && !texts.has(name)) texts.set(name, sent(fragment));
    }
  }
  return [...texts.values()].join('\n');
}

/** As it is sent: `@_unmask` speaks to the compiler alone. */
const sent = (definition: DefinitionNode) => print(definition).replaceAll(' @_unmask', '');
