/** gamma 0.95, normalizeByStd true; `none` where there are none */
export function paramsText(params: unknown): string {
  const said = Object.entries(params as Readonly<Record<string, unknown>>).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return said.length === 0 ? 'none' : said.join(', ');
}
