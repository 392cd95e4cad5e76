import type { DisputedTurn } from '#lib/diagnostics';
import type { ApiClient } from './api-client.js';

/** A disputed turn, and what the agent saw and did in it; null: it is not there any more. */
export interface ShownDispute extends DisputedTurn {
  readonly recorded: {
    readonly state: string;
    readonly action: string;
    readonly signals: Readonly<Record<string, unknown>>;
  } | null;
}

/** The turns that an analysis's estimators dispute most. */
export async function disputedTurns(api: ApiClient, analysis: string, first: number): Promise<readonly ShownDispute[]> {
  const found = await api.query<{
    analysis: { comparison: { disputed: readonly ShownDispute[] } | null } | null;
  }>(
    `query ($analysis: ID!, $first: Int!) { analysis(id: $analysis) { comparison { disputed(first: $first) {
       run trajectory turn a b strength values recorded { state action signals } } } } }`,
    { analysis, first },
  );
  return found.analysis?.comparison?.disputed ?? [];
}
