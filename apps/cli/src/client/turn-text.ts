import type { ApiClient } from './api-client.js';

export interface TurnText {
  readonly state: string;
  readonly action: string;
  readonly group: string;
  readonly trainingStep: number;
  readonly outcomeReward: number | null;
  readonly signals: Readonly<Record<string, unknown>>;
}

/** The longest page of turns that the API gives. */
const MAX_PAGE = 500;

interface Found {
  readonly trajectory: {
    readonly group: string;
    readonly trainingStep: number;
    readonly outcomeReward: number | null;
    readonly turns: { readonly edges: readonly { readonly node: Pick<TurnText, 'state' | 'action' | 'signals'> }[] };
  } | null;
}

/** What happened in a turn; null where it lies beyond the first page. */
export async function turnText(
  api: ApiClient,
  { run, trajectory, turn }: { readonly run: string; readonly trajectory: string; readonly turn: number },
): Promise<TurnText | null> {
  if (turn >= MAX_PAGE) return null;
  const found = await api.query<Found>(
    `query ($run: ID!, $trajectory: ID!, $first: Int!) {
      trajectory(run: $run, id: $trajectory) {
        group trainingStep outcomeReward turns(first: $first) { edges { node { state action signals } } }
      }
    }`,
    { run, trajectory, first: turn + 1 },
  );
  const node = found.trajectory?.turns.edges[turn]?.node;
  if (!found.trajectory || !node) return null;
  const { group, trainingStep, outcomeReward } = found.trajectory;
  return { ...node, group, trainingStep, outcomeReward };
}
