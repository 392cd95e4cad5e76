/** A turn as the graph needs it. */
export interface GraphTurn {
  readonly index: number;
  readonly stateKey: string;
  readonly state: string;
  readonly action: string;
  /** null: nothing is said */
  readonly credit: number | null;
}

export interface GraphRollout {
  readonly id: string;
  readonly success: boolean | null;
  readonly turns: readonly GraphTurn[];
}

/** A state that was seen, or the end that a rollout came to. */
export interface StateNode {
  readonly key: string;
  readonly state: string;
  /** null: a state */
  readonly end: 'success' | 'failure' | 'end' | null;
  /** ids, each once */
  readonly rollouts: ReadonlySet<string>;
  readonly visits: number;
  /** the smallest turn index at which it was seen; ends stand after all states */
  readonly layer: number;
  /** within its layer, 0 is the middle */
  readonly row: number;
}

/** Turns that went from one state to another by the same action. */
export interface ActionEdge {
  readonly from: string;
  readonly to: string;
  readonly action: string;
  readonly rollouts: ReadonlySet<string>;
  readonly turns: readonly { readonly rollout: string; readonly turn: number }[];
  /** mean over its turns; null: nothing is said of any */
  readonly credit: number | null;
}

export interface StateGraph {
  readonly nodes: readonly StateNode[];
  readonly edges: readonly ActionEdge[];
  readonly layers: number;
  /** of the largest layer */
  readonly rows: number;
}

const SWEEPS = 6;

/** The rollouts of a group with equal states merged: states are nodes, actions edges, and each rollout a path. */
export function stateGraph(rollouts: readonly GraphRollout[]): StateGraph {
  const longest = rollouts.reduce((most, { turns }) => Math.max(most, turns.length), 0);
  const nodes = new Map<string, { node: Omit<StateNode, 'row' | 'layer' | 'visits'>; layer: number; visits: number }>();
  const edges = new Map<string, { edge: Omit<ActionEdge, 'credit'>; credits: number[] }>();

  const visit = (key: string, state: string, end: StateNode['end'], layer: number, rollout: string) => {
    const found = nodes.get(key) ?? { node: { key, state, end, rollouts: new Set<string>() }, layer, visits: 0 };
    nodes.set(key, { ...found, layer: Math.min(found.layer, layer), visits: found.visits + 1 });
    (found.node.rollouts as Set<string>).add(rollout);
  };
  for (const { id, success, turns } of rollouts) {
    const end = success === null ? 'end' : success ? 'success' : 'failure';
    turns.forEach(({ index, stateKey, state, action, credit }, i) => {
      visit(stateKey, state, null, i, id);
      const to = turns[i + 1]?.stateKey ?? end;
      const key = JSON.stringify([stateKey, action, to]);
      const found = edges.get(key) ?? {
        edge: { from: stateKey, to, action, rollouts: new Set<string>(), turns: [] },
        credits: [],
      };
      edges.set(key, found);
      (found.edge.rollouts as Set<string>).add(id);
      (found.edge.turns as { rollout: string; turn: number }[]).push({ rollout: id, turn: index });
      if (credit !== null) found.credits.push(credit);
    });
    if (turns.length > 0) visit(end, '', end, longest, id);
  }

  const drawn = [...edges.values()].map(({ edge, credits }) => ({ ...edge, credit: meanOf(credits) }));
  const placed = inRows(
    [...nodes.values()].map(({ node, layer, visits }) => ({ ...node, layer, visits })),
    drawn,
  );
  return {
    nodes: placed,
    edges: drawn,
    layers: placed.reduce((most, { layer }) => Math.max(most, layer + 1), 0),
    rows: Math.max(
      0,
      ...Map.groupBy(placed, ({ layer }) => layer)
        .values()
        .map((layer) => layer.length),
    ),
  };
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Puts each node near those it is joined to (barycentres, a few sweeps), so that few edges cross. */
function inRows(nodes: readonly Omit<StateNode, 'row'>[], edges: readonly ActionEdge[]): StateNode[] {
  const neighbours = new Map<string, string[]>();
  for (const { from, to } of edges) {
    if (from === to) continue;
    neighbours.set(from, [...(neighbours.get(from) ?? []), to]);
    neighbours.set(to, [...(neighbours.get(to) ?? []), from]);
  }
  const layers = [...Map.groupBy(nodes, ({ layer }) => layer).values()];
  const rows = new Map<string, number>();
  const place = (layer: readonly { readonly key: string }[]) =>
    layer.forEach(({ key }, i) => rows.set(key, i - (layer.length - 1) / 2));
  for (const layer of layers) place(layer.toSorted((a, b) => b.rollouts.size - a.rollouts.size));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const layer of layers) {
      const wanted = new Map(
        layer.map(({ key }) => [key, meanOf((neighbours.get(key) ?? []).map((one) => rows.get(one)!)) ?? 0]),
      );
      place(layer.toSorted((a, b) => wanted.get(a.key)! - wanted.get(b.key)!));
    }
  }
  return nodes.map((node) => ({ ...node, row: rows.get(node.key)! }));
}
