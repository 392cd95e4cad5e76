import { escapeLiteral, type PoolClient, type Submittable } from 'pg';

/** What a column holds, as Postgres names it. */
export type ColumnType = 'int4' | 'float8' | 'text' | 'bytea' | 'timestamptz';

/** The columns of a statement, by the names that its rows get, in its order. */
export type Columns<Row> = { readonly [Name in keyof Row]: ColumnType };

export type Parameter = string | number | readonly number[];

/**
 * The rows of a SELECT, as bytes rather than as text. The driver asks for text alone, which of a bytea is hexadecimal:
 * of 4.3 MB making it took Postgres 9 ms of processor time and making bytes of it again 12 ms here; so it takes 3 and 2.
 * It goes by COPY, which takes no parameters: they are written into the statement as literals.
 *
 * @throws what the driver throws for a statement that fails
 */
export function binaryRows<Row>(
  client: Pick<PoolClient, 'query'>,
  sql: string,
  params: readonly Parameter[],
  columns: Columns<Row>,
): Promise<Row[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Row[]>();
  const rows: unknown[] = [];
  const types = Object.entries<ColumnType>(columns);
  const text = `copy (${withLiterals(sql, params)}) to stdout (format binary)`;
  client.query(
    new CopyOut(
      text,
      (message) => takeRows(message, types, rows),
      (error) => (error ? reject(error) : resolve(rows as Row[])),
    ),
  );
  return promise;
}

/** Whatever a parameter holds, it stays within its quotes; Postgres finds its type as it does of a parameter. */
function withLiterals(sql: string, params: readonly Parameter[]): string {
  return sql.replaceAll(/\$(\d+)/g, (_, nth: string) => {
    const param = params[Number(nth) - 1];
    return escapeLiteral(typeof param === 'object' ? `{${param.join()}}` : String(param));
  });
}

/** A statement as the driver's queue takes it: it calls what is here, whatever it is called. */
class CopyOut implements Submittable {
  constructor(
    private readonly text: string,
    private readonly take: (message: Buffer) => void,
    private readonly done: (error: Error | null) => void,
  ) {}

  submit(connection: { readonly query: (text: string) => void }): void {
    connection.query(this.text);
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.take(chunk);
  }

  handleError(error: Error): void {
    this.done(error);
  }

  handleReadyForQuery(): void {
    this.done(null);
  }

  handleCommandComplete(): void {}

  /** for those who count statements */
  toString(): string {
    return this.text;
  }
}

const SIGNATURE = Buffer.from('PGCOPY\n\u00FF\r\n\0', 'latin1');
const FLAGS_BYTES = 4;
/** Postgres counts microseconds from there. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

/** A message holds whole rows: one, behind the header where it is the first. Its memory is the driver's own. */
function takeRows(message: Buffer, types: readonly (readonly [string, ColumnType])[], rows: unknown[]): void {
  let at = 0;
  if (message.subarray(0, SIGNATURE.length).equals(SIGNATURE)) {
    const extension = SIGNATURE.length + FLAGS_BYTES;
    at = extension + 4 + message.readInt32BE(extension);
  }
  while (at < message.length && message.readInt16BE(at) >= 0) {
    at += 2; // how many columns there are is known
    const row: Record<string, unknown> = {};
    for (const [name, type] of types) {
      const size = message.readInt32BE(at);
      at += 4;
      row[name] = size < 0 ? null : valueAt(message, at, size, type);
      at += Math.max(size, 0);
    }
    rows.push(row);
  }
}

function valueAt(message: Buffer, at: number, size: number, type: ColumnType): unknown {
  switch (type) {
    case 'int4':
      return message.readInt32BE(at);
    case 'float8':
      return message.readDoubleBE(at);
    case 'text':
      return message.toString('utf8', at, at + size);
    case 'bytea':
      return Buffer.from(message.subarray(at, at + size));
    case 'timestamptz':
      return new Date(EPOCH_MS + Number(message.readBigInt64BE(at)) / 1000);
  }
}
