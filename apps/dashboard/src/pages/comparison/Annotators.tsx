import { useNavigate, useSearch } from '@tanstack/react-router';
import { said } from '../../said.js';
import { counted } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Choice } from '../../ui/Choice.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Panel } from '../../ui/Panel.js';
import { Interval } from './Interval.js';
import { scoreOf, scoreWithout, SCORES, spreadOf, type Score } from './label-scores.js';
import { MEASURES } from './measures.js';
import type { Annotators as AnnotatorsOf } from './queries.js';

type Scored = AnnotatorsOf['estimators'][number];

const FROM = '/analyses/$analysis';

/** What each estimator scores against what most annotators say, and how that hangs on each of them. */
export function Annotators({ annotators }: { readonly annotators: readonly AnnotatorsOf[] }) {
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const shown = annotators.find(({ signal }) => signal === search.labels) ?? annotators[0];
  if (!shown) return null;
  const score = SCORES.find((one) => one === search.score) ?? SCORES[0];
  const go = (change: { readonly labels?: string; readonly score?: string }) =>
    void navigate({ search: (old) => said({ ...old, ...change }), replace: true, resetScroll: false });
  return (
    <Panel
      title="Without each annotator"
      hint={`${shown.annotators
        .map(({ annotator, turns }) => `${visibleText(annotator)} ${counted(turns, 'turn')}`)
        .join(', ')}; brackets are 90 % intervals`}
      actions={
        <>
          {annotators.length > 1 && (
            <Choice
              label="Labels"
              value={shown.signal}
              options={annotators.map(({ signal }) => ({ value: signal, title: visibleText(signal) }))}
              onChoose={(labels) => go({ labels })}
            />
          )}
          <Choice
            label="Score"
            value={score}
            options={SCORES.map((value) => ({ value, title: MEASURES[value].title }))}
            onChoose={(next) => go({ score: next })}
          />
        </>
      }
    >
      <DataTable<Scored>
        label="Without each annotator"
        rows={shown.estimators}
        columns={columnsOf(shown, score)}
        keyOf={({ estimator }) => estimator}
      />
    </Panel>
  );
}

function columnsOf({ annotators, estimators }: AnnotatorsOf, score: Score): readonly Column<Scored>[] {
  const { hint, scale } = MEASURES[score];
  const leftOut = annotators.filter(({ annotator }) =>
    estimators.some(({ without }) => without.some((one) => one.annotator === annotator)),
  );
  return [
    { id: 'id', title: 'Estimator', cell: ({ estimator }) => <strong>{visibleText(estimator)}</strong> },
    {
      id: 'all',
      title: 'Against what most say',
      hint,
      cell: ({ consensus }) => <Interval estimate={scoreOf(consensus, score)} {...scale} isDrawn />,
    },
    ...leftOut.map(({ annotator }): Column<Scored> => ({
      id: `without-${annotator}`,
      title: `without ${visibleText(annotator)}`,
      cell: (row) => <Interval estimate={scoreWithout(row, annotator, score)} {...scale} isDrawn={false} />,
    })),
    {
      id: 'spread',
      title: 'Spread',
      hint: 'The greatest of them less the least: a score that hangs on one annotator is worth little',
      align: 'end',
      cell: (row) => {
        const spread = spreadOf(row, score);
        return spread === null ? '–' : scale.write(spread).replace('+', '');
      },
    },
  ];
}
