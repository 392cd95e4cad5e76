import { type Type } from '@nestjs/common';
import { ArgsType, Field, Int, ObjectType } from '@nestjs/graphql';
import { RecreditError } from '#lib/kernel';
import { cursorOf, keyFrom, type Key, type Order } from './cursor.js';

export const DEFAULT_PAGE = 50;
export const MAX_PAGE = 500;

@ArgsType()
export class PageArgs {
  @Field(() => Int, { nullable: true, description: `How many, up to ${MAX_PAGE}; ${DEFAULT_PAGE} if not said.` })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'The cursor that the page begins after.' })
  after?: string | null;
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

/** A page as it was asked for, checked. */
export interface Page {
  readonly size: number;
  /** sort key of the last row before it; null: from the beginning */
  readonly after: Key | null;
}

/** null is as good as not said: clients send variables that they do not use. */
export function pageOf<Node>({ first, after }: PageArgs, order: Order<Node>): Page {
  const size = first ?? DEFAULT_PAGE;
  if (size < 1 || size > MAX_PAGE) {
    throw new RecreditError('query.invalid', `first: a number from 1 to ${MAX_PAGE} was wanted, found ${size}`);
  }
  return { size, after: after === null || after === undefined ? null : keyFrom(after, order) };
}

/** A row of a page. Most readers of a page ask for no cursors but the last one. */
class PlacedNode<Node> {
  constructor(
    private readonly order: Order<Node>,
    readonly node: Node,
  ) {}

  get cursor(): string {
    return cursorOf(this.order.keyOf(this.node));
  }
}

/** @param rows of the page, and one more where there is one: so `hasNextPage` costs no count */
export function connection<Node>({ size }: Page, order: Order<Node>, rows: readonly Node[]): Connection<Node> {
  const edges = rows.slice(0, size).map((node) => new PlacedNode(order, node));
  return { edges, pageInfo: { hasNextPage: rows.length > size, endCursor: edges.at(-1)?.cursor ?? null } };
}

/**
 * One page of a sorted list.
 *
 * @param read rows after a key, in order, up to a limit
 */
export async function connect<Node>(
  args: PageArgs,
  order: Order<Node>,
  read: (limit: number, after: Key | null) => Promise<readonly Node[]>,
): Promise<Connection<Node>> {
  const page = pageOf(args, order);
  return connection(page, order, await read(page.size + 1, page.after));
}
