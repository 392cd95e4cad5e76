interface Refusal {
  readonly message: string;
  readonly graphQLErrors: readonly { readonly extensions?: Readonly<Record<string, unknown>> }[];
}

interface Issue {
  readonly path: string;
  readonly message: string;
}

/** Which settings were refused, and why; none where the refusal is of something else. */
export function settingRefusals({ graphQLErrors }: Refusal): ReadonlyMap<string, string> {
  const details = graphQLErrors[0]?.extensions?.details as { readonly issues?: readonly Issue[] } | undefined;
  const bySetting = Map.groupBy(details?.issues ?? [], ({ path }) => path.split('.')[0]);
  return new Map([...bySetting].map(([name, issues]) => [name, issues.map(({ message }) => message).join('; ')]));
}
