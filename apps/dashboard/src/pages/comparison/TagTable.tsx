import { useNavigate, useSearch } from '@tanstack/react-router';
import { graphql, type ResultOf } from '../../graphql.js';
import { said } from '../../said.js';
import { count, counted, credit, percent } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { useAsked } from '../../use-asked.js';
import { Choice } from '../../ui/Choice.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Empty, Failure } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { leastAgreeing } from './area.js';
import { rankAgreement } from './matrix-cells.js';
import { PairHeatMap } from './PairMatrix.js';
import type { Comparison } from './queries.js';

const TagsQuery = graphql(`
  query ComparisonTags($analysis: ID!) {
    analysis(id: $analysis) {
      id
      comparison {
        tags {
          tag
          reason
          values {
            value
            trajectories
            turns
            pairs {
              a
              b
              spearman
              signAgreement
              flipCount
            }
          }
        }
      }
    }
  }
`);

type Tags = NonNullable<NonNullable<ResultOf<typeof TagsQuery>['analysis']>['comparison']>['tags'];
type TagValue = NonNullable<Tags[number]['values']>[number];

interface TagTableProps {
  readonly analysis: string;
  readonly comparison: Comparison;
}

/** How the estimators agree among the trajectories of one kind, such as one type of task; nothing where none has a tag. */
export function TagTable({ analysis, comparison: { estimators } }: TagTableProps) {
  const search = useSearch({ from: '/analyses/$analysis' });
  const navigate = useNavigate({ from: '/analyses/$analysis' });
  const { data, error, again } = useAsked({ query: TagsQuery, variables: { analysis } });
  if (error) return <Failure message={error.message} onRetry={again} />;
  const tags = data?.analysis?.comparison?.tags ?? [];
  const tag = tags.find((one) => one.tag === search.tag) ?? tags.find(({ values }) => values !== null) ?? tags[0];
  if (!tag) return null;
  const chosen = tag.values?.find(({ value }) => value === search.value);
  const go = (change: { readonly tag?: string | undefined; readonly value?: string | undefined }) =>
    void navigate({ search: (old) => said({ ...old, ...change }), replace: true, resetScroll: false });
  return (
    <Panel
      title={`Agreement by ${visibleText(tag.tag)}`}
      hint="of the trajectories of the sample; the two that agree least among those of each kind"
      actions={
        tags.length > 1 && (
          <Choice
            label="Tag"
            value={tag.tag}
            options={tags.map((one) => ({ value: one.tag, title: visibleText(one.tag) }))}
            onChoose={(next) => go({ tag: next, value: undefined })}
          />
        )
      }
    >
      {tag.values === null ? (
        <Empty
          title={`It cannot be told by ${visibleText(tag.tag)}: ${visibleText(tag.reason ?? 'no reason given')}`}
        />
      ) : (
        <div className="columns">
          <DataTable<TagValue>
            label={`Agreement by ${visibleText(tag.tag)}`}
            rows={tag.values}
            columns={columnsOf(chosen, (value) => go({ value: value === chosen?.value ? undefined : value }))}
            keyOf={({ value }) => value}
            isMarked={(row) => row === chosen}
          />
          {chosen ? (
            <PairHeatMap
              ids={estimators.map(({ id }) => id)}
              pairs={chosen.pairs}
              agreement={rankAgreement}
              label={`Matrix of rank correlations between estimators where ${visibleText(tag.tag)} is ${visibleText(chosen.value)}`}
            />
          ) : (
            <Empty title="No kind is chosen">
              <p>Choose one to see how each two estimators agree among its trajectories.</p>
            </Empty>
          )}
        </div>
      )}
    </Panel>
  );
}

function columnsOf(chosen: TagValue | undefined, onChoose: (value: string) => void): readonly Column<TagValue>[] {
  const least = ({ pairs }: TagValue) => {
    const ids = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))];
    const two = leastAgreeing(ids, pairs);
    return pairs.find(({ a, b }) => a === two?.[0] && b === two[1]);
  };
  return [
    {
      id: 'value',
      title: 'Kind',
      cell: (row) => (
        <button type="button" className="link" aria-pressed={row === chosen} onClick={() => onChoose(row.value)}>
          {visibleText(row.value)}
        </button>
      ),
    },
    { id: 'trajectories', title: 'Trajectories', align: 'end', cell: ({ trajectories }) => count(trajectories) },
    {
      id: 'least',
      title: 'Agree least',
      cell: (row) => {
        const pair = least(row);
        return pair ? `${visibleText(pair.a)}, ${visibleText(pair.b)}` : '–';
      },
    },
    { id: 'spearman', title: 'Spearman', align: 'end', cell: (row) => credit(least(row)?.spearman, 2) },
    {
      id: 'signs',
      title: 'Equal signs',
      hint: 'Of the turns on which both say something else than 0',
      align: 'end',
      cell: (row) => percent(least(row)?.signAgreement, 0),
    },
    {
      id: 'flips',
      title: 'Opposite',
      align: 'end',
      cell: (row) => counted(least(row)?.flipCount ?? 0, 'turn'),
    },
  ];
}
