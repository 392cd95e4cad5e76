/** Leaves out what is not said, so that addresses stay short. */
export function said<Search extends object>(search: Search) {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Search]?: NonNullable<Search[Name]>;
  };
}
