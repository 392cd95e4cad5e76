import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { said } from '../../said.js';
import { counted, credit, percent } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Choice } from '../../ui/Choice.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Panel } from '../../ui/Panel.js';
import { Interval } from './Interval.js';
import { MEASURES } from './measures.js';
import type { Comparison, Profile, Truth } from './queries.js';
import { chosenTruth, estimateOf, firstErrorChance, isLabel, type Measure } from './truth-measures.js';

/** How well each estimator agrees with a truth: the pairs of a trajectory first, where the truth is labels. */
export function TruthTable({ comparison: { estimators, truths } }: { readonly comparison: Comparison }) {
  const { truth: asked, by } = useSearch({ from: '/analyses/$analysis' });
  const navigate = useNavigate({ from: '/analyses/$analysis' });
  const signal = chosenTruth(truths, asked);
  const columns = useMemo(() => (signal === null ? [] : columnsOf(signal, truths)), [signal, truths]);
  if (signal === null) return null;
  const signals = [...new Set(truths.filter(({ n }) => n > 0).map((truth) => truth.signal))];
  const turns = Math.max(0, ...truths.filter((truth) => truth.signal === signal).map(({ n }) => n));
  const go = (change: { readonly truth?: string; readonly by?: string | undefined }) =>
    void navigate({ search: (old) => said({ ...old, ...change }), replace: true, resetScroll: false });
  return (
    <Panel
      title={`Agreement with ${visibleText(signal)}`}
      hint={`on ${counted(turns, 'turn')}; bars and brackets are 90 % intervals over groups`}
      actions={
        signals.length > 1 && (
          <Choice
            label="Truth"
            value={signal}
            options={signals.map((value) => ({ value, title: visibleText(value) }))}
            onChoose={(truth) => go({ truth })}
          />
        )
      }
    >
      <DataTable<Profile>
        label={`Agreement with ${visibleText(signal)}`}
        rows={estimators}
        columns={columns}
        keyOf={({ id }) => id}
        sort={by ?? (isLabel(truths, signal) ? '-withinTrajectoryPairAccuracy' : '-spearman')}
        onSort={(next) => go({ by: next })}
      />
    </Panel>
  );
}

const OF_LABELS: readonly Measure[] = [
  'withinTrajectoryPairAccuracy',
  'auc',
  'aucMixedGroups',
  'spearman',
  'firstErrorHit',
];
const OF_NUMBERS: readonly Measure[] = ['spearman', 'withinTrajectoryPairAccuracy', 'auc', 'aucMixedGroups'];

function columnsOf(signal: string, truths: readonly Truth[]): readonly Column<Profile>[] {
  const of = new Map(truths.filter((truth) => truth.signal === signal).map((truth) => [truth.estimator, truth]));
  const measures = isLabel(truths, signal) ? OF_LABELS : OF_NUMBERS;
  return [
    { id: 'id', title: 'Estimator', sortBy: ({ id }) => id, cell: ({ id }) => <strong>{visibleText(id)}</strong> },
    ...measures.map((measure, i): Column<Profile> => {
      const { title, hint, scale } = MEASURES[measure];
      return {
        id: measure,
        title,
        hint,
        sortBy: ({ id }) => estimateOf(of.get(id), measure).value,
        cell: ({ id }) => <Interval estimate={estimateOf(of.get(id), measure)} {...scale} isDrawn={i === 0} />,
      };
    }),
    ...([...of.values()].some(({ gradientCosine }) => gradientCosine !== null)
      ? [
          {
            id: 'gradient',
            title: 'Same update',
            hint: 'Cosine of the policy gradients that it and the truth give; 1: the same but for its size',
            align: 'end' as const,
            sortBy: ({ id }: Profile) => of.get(id)?.gradientCosine ?? null,
            cell: ({ id }: Profile) => credit(of.get(id)?.gradientCosine, 2),
          },
        ]
      : []),
    ...(measures.includes('firstErrorHit')
      ? [
          {
            id: 'chance',
            title: 'by chance',
            align: 'end' as const,
            cell: ({ id }: Profile) => percent(firstErrorChance(of.get(id)), 0),
          },
        ]
      : []),
  ];
}
