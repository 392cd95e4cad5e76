import { useMemo } from 'react';
import { credit as creditText } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { creditSide, creditStrength } from './credit-strength.js';
import type { ActionEdge, StateGraph, StateNode } from './state-graph.js';

const WIDTH = 1170;
/** Layers stand at least and at most so far apart: what does not fit is scrolled to. */
const STEPS = [30, 64] as const;
const ROW = 34;
const MARGIN = 20;
/** Above, for lines that go back. */
const ARC = 44;

interface DrawingProps {
  readonly graph: StateGraph;
  /** the credit that is drawn strongest */
  readonly full: number;
  /** key of the state that somebody looks at */
  readonly looked: string | null;
  readonly onLook: (key: string | null) => void;
  readonly onChoose: (key: string) => void;
}

/** States from left to right as they were first seen; every line is an action, coloured by its credit. */
export function StateGraphDrawing({ graph, full, looked, onLook, onChoose }: DrawingProps) {
  const { nodes, edges, layers, rows } = graph;
  const step = Math.min(STEPS[1], Math.max(STEPS[0], WIDTH / Math.max(1, layers - 1)));
  const width = 2 * MARGIN + (layers - 1) * step;
  const middle = ARC + ((rows - 1) * ROW) / 2;
  const height = 2 * middle - ARC + MARGIN;
  const places = useMemo(
    () => new Map(nodes.map((node) => [node.key, { x: MARGIN + node.layer * step, y: middle + node.row * ROW, node }])),
    [nodes, middle, step],
  );
  const through = looked === null ? null : (places.get(looked)?.node.rollouts ?? null);
  const isDim = (rollouts: ReadonlySet<string>) => through !== null && through.isDisjointFrom(rollouts);
  return (
    <div className="state-graph" tabIndex={0} role="region" aria-label="Graph of states and actions">
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${nodes.length} states and ends, joined by actions; the shared ones are listed below`}
      >
        {edges.map((edge) => {
          const from = places.get(edge.from)!;
          const to = places.get(edge.to)!;
          return (
            <path
              key={JSON.stringify([edge.from, edge.action, edge.to])}
              className={edgeClass(edge, isDim(edge.rollouts))}
              d={pathOf(from, to)}
              strokeWidth={1 + Math.min(4, Math.sqrt(edge.turns.length))}
              strokeOpacity={edge.credit === null ? 0.6 : creditStrength(edge.credit, full)}
            >
              <title>{`${visibleText(edge.action)}\n${edge.turns.length} × credit ${creditText(edge.credit)}`}</title>
            </path>
          );
        })}
        {nodes.map((node) => {
          const { x, y } = places.get(node.key)!;
          return (
            <circle
              key={node.key}
              className={nodeClass(node, node.key === looked, isDim(node.rollouts))}
              cx={x}
              cy={y}
              r={node.end ? 8 : 4 + Math.min(6, 1.6 * Math.sqrt(node.rollouts.size))}
              onMouseEnter={() => onLook(node.key)}
              onMouseLeave={() => onLook(null)}
              onClick={() => node.end === null && onChoose(node.key)}
            >
              <title>
                {node.end === null ? visibleText(node.state) : `${node.end}: ${node.rollouts.size} rollouts`}
              </title>
            </circle>
          );
        })}
      </svg>
    </div>
  );
}

function edgeClass({ credit }: ActionEdge, isDim: boolean): string {
  const side = creditSide(credit);
  return `edge${side && ` edge-${side}`}${isDim ? ' dim' : ''}`;
}

function nodeClass({ end, rollouts }: StateNode, isLooked: boolean, isDim: boolean): string {
  const kind = end ? `node-${end}` : rollouts.size > 1 ? 'node-shared' : 'node-lone';
  return `node ${kind}${isLooked ? ' node-looked' : ''}${isDim ? ' dim' : ''}`;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Forward a smooth line, back an arc above, and to itself a loop. */
function pathOf(from: Place, to: Place): string {
  if (from === to) return `M${from.x - 4} ${from.y - 6}c-12 -20 20 -20 8 0`;
  const half = (to.x - from.x) / 2;
  if (half > 0) return `M${from.x} ${from.y}C${from.x + half} ${from.y} ${to.x - half} ${to.y} ${to.x} ${to.y}`;
  const lift = Math.min(ARC, 14 + Math.abs(half) / 3);
  return `M${from.x} ${from.y}C${from.x} ${from.y - lift} ${to.x} ${to.y - lift} ${to.x} ${to.y}`;
}
