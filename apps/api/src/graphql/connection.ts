import { type Type } from '@nestjs/common';
import { ArgsType, Field, Int, ObjectType } from '@nestjs/graphql';
import { RecreditError } from '#lib/kernel';

export const DEFAULT_PAGE = 50;
export const MAX_PAGE = 500;

/** Sort key of the last row of a page. */
export type Key = readonly (string | number)[];

@ArgsType()
export class PageArgs {
  @Field(() => Int, { nullable: true, description: `How many, up to ${MAX_PAGE}; ${DEFAULT_PAGE} if not said.` })
  first?: number;

  @Field(() => String, { nullable: true, description: 'The cursor that the page begins after.' })
  after?: string;
}

@ObjectType()
export class PageInfo {
  @Field(() => Boolean)
  hasNextPage!: boolean;

  @Field(() => String, { nullable: true })
  endCursor!: string | null;
}

export interface Connection<Node> {
  readonly edges: readonly { readonly cursor: string; readonly node: Node }[];
  readonly pageInfo: PageInfo;
}

/** The connection type over a node type: `class RunConnection extends connectionOf(Run) {}`. */
export function connectionOf<Node extends object>(NodeType: Type<Node>) {
  @ObjectType(`${NodeType.name}Edge`)
  class Edge {
    @Field(() => String)
    cursor!: string;

    @Field(() => NodeType)
    node!: Node;
  }

  @ObjectType({ isAbstract: true })
  abstract class ConnectionType {
    @Field(() => [Edge])
    edges!: Edge[];

    @Field(() => PageInfo)
    pageInfo!: PageInfo;
  }
  return ConnectionType;
}

/**
 * One page of a list that is sorted by a key. Reads one row more than asked, so `hasNextPage` costs no count.
 *
 * @param read rows after a key, in order, up to a limit
 */
export async function connect<Node>(
  { first, after }: PageArgs,
  read: (limit: number, after: Key | null) => Promise<readonly Node[]>,
  keyOf: (node: Node) => Key,
): Promise<Connection<Node>> {
  const size = pageSize(first);
  const rows = await read(size + 1, after === undefined ? null : keyFrom(after));
  const edges = rows.slice(0, size).map((node) => ({ cursor: cursorOf(keyOf(node)), node }));
  return { edges, pageInfo: { hasNextPage: rows.length > size, endCursor: edges.at(-1)?.cursor ?? null } };
}

/** The size of a page, checked. */
export function pageSize(first: number | undefined): number {
  const size = first ?? DEFAULT_PAGE;
  if (size >= 1 && size <= MAX_PAGE) return size;
  throw new RecreditError('query.invalid', `first: a number from 1 to ${MAX_PAGE} was wanted, found ${size}`);
}

const cursorOf = (key: Key) => Buffer.from(JSON.stringify(key)).toString('base64url');

export function keyFrom(cursor: string): Key {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(key) && key.every((part) => typeof part === 'string' || typeof part === 'number')) return key;
  } catch {
    // falls through: whatever it is, it is none of ours
  }
  throw new RecreditError('query.invalid', `after: a cursor of this list was wanted, found ${cursor.slice(0, 40)}`);
}
