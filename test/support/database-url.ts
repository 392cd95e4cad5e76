/** The migrated database that specs clone. */
export const TEMPLATE = 'recredit_template';

/** The same server, another database. */
export function databaseUrl(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.href;
}
