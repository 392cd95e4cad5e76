import { Link, useParams } from '@tanstack/react-router';
import { graphql } from '../../graphql.js';
import { ago, count, counted, decimal, percent } from '../../text/numbers.js';
import { paramsText } from '../../text/params.js';
import { visibleText } from '../../text/visible-text.js';
import { Head } from '../../ui/Crumbs.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import { Figures } from '../../ui/Figures.js';
import { Empty, Failure, Skeleton } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { State } from '../../ui/State.js';
import { Text } from '../../ui/Text.js';
import { usePolling } from '../../use-live.js';
import { RunLink, StepLink, TurnLink } from '../links.js';
import { sentence } from '../run/diagnostic-text.js';
import { explanationOf, isSound, stepsText, type AuditResult, type Finding, type WorstRow } from './audit-result.js';
import { useAsked } from '../../use-asked.js';

const AuditQuery = graphql(`
  query Audit($audit: ID!) {
    audit(id: $audit) {
      id
      run
      asOf
      estimator
      params
      signal
      state
      failure
      result
      createdAt
    }
  }
`);

const POLL_MS = 1500;

/** The trainer's own advantages, held against an estimator's: the verdict, what it rests on, where to look. */
export function AuditPage() {
  const { audit: id } = useParams({ from: '/audits/$audit' });
  const { data, error, again } = useAsked({
    query: AuditQuery,
    variables: { audit: id },
    requestPolicy: 'cache-and-network',
  });
  const audit = data?.audit;
  usePolling(() => audit?.state === 'RUNNING' && again(), POLL_MS);

  if (error) return <Failure message={error.message} onRetry={again} />;
  if (!data) return <Skeleton height={120} count={3} />;
  if (!audit) {
    return (
      <Empty title="There is no such audit among those you see">
        <Link to="/runs">See all runs</Link>
      </Empty>
    );
  }
  const { estimator, params, signal, state, failure, createdAt, asOf } = audit;
  const result = audit.result as AuditResult | null;
  return (
    <>
      <Head
        title={`Audit of ${signal} against ${estimator}`}
        crumbs={[<Link to="/runs">Runs</Link>, <RunLink run={audit.run} />]}
      >
        <State state={state} />
        <span className="hint">
          {ago(createdAt, Date.now())}, as of event {count(asOf)}; params: {visibleText(paramsText(params))}
        </span>
      </Head>
      {failure && <Failure message={failure} />}
      {state === 'RUNNING' && (
        <section className="panel">
          <p className="hint">
            Each training step is recomputed and compared. The verdict stands here when it is there.
          </p>
          <Skeleton height={36} count={3} />
        </section>
      )}
      {result && <Verdict run={audit.run} result={result} />}
    </>
  );
}

function Verdict({ run, result }: { readonly run: string; readonly result: AuditResult }) {
  const { findings, changes, notRecomputed } = result;
  const worst = findings.flatMap((finding) => finding.worst);
  const isClean = findings.length > 0 && findings.every(isSound);
  return (
    <>
      <section className="panel">
        <p className={`verdict ${isClean ? 'verdict-good' : findings.length > 0 ? 'verdict-bad' : ''}`}>
          <Text>{sentence(result.sentence)}</Text>
        </p>
        <Figures
          figures={[
            { name: 'Training steps audited', value: `${count(result.audited)} of ${count(result.trainingSteps)}` },
            { name: 'As the trainer says', value: percent(result.matchShare), note: 'of audited steps' },
            { name: 'Findings', value: count(findings.length) },
          ]}
        />
        {notRecomputed && (
          <p className="lacking">
            not recomputed on {counted(notRecomputed.trainingSteps, 'training step')}: {visibleText(notRecomputed.text)}
          </p>
        )}
      </section>
      {findings.length > 0 && (
        <Panel title="Findings" hint="most training steps first; a correct trainer has one, match">
          <DataTable<Finding>
            label="Findings"
            rows={findings}
            columns={FINDING_COLUMNS}
            keyOf={(finding) => String(findings.indexOf(finding))}
          />
        </Panel>
      )}
      {changes.length > 0 && (
        <Panel title="Where it changes" hint="a change of configuration, a resume">
          <ul className="evidence">
            {changes.map(({ trainingStep, verdict, formula }) => (
              <li key={trainingStep}>
                <StepLink run={run} step={trainingStep} />
                <span className="hint">
                  from here on {verdict}
                  {formula !== null && `, ${formula}`}
                </span>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      {worst.length > 0 && (
        <Panel title="Rows that are furthest off" hint="of the training step with the most of them, per finding">
          <DataTable<WorstRow>
            label="Rows that are furthest off"
            rows={worst}
            columns={worstColumns(run)}
            keyOf={(row) => String(worst.indexOf(row))}
          />
        </Panel>
      )}
    </>
  );
}

const FINDING_COLUMNS: readonly Column<Finding>[] = [
  {
    id: 'verdict',
    title: 'Verdict',
    cell: (finding) => (
      <span className={`state state-${isSound(finding) ? 'good' : 'bad'}`}>{finding.verdict.replaceAll('-', ' ')}</span>
    ),
  },
  {
    id: 'explanation',
    title: 'The numbers are those of',
    cell: (finding) => (
      <>
        {explanationOf(finding)}
        {finding.equallyGood.length > 0 && <small> or equally {finding.equallyGood.join(' or ')}</small>}
      </>
    ),
  },
  { id: 'steps', title: 'Where', cell: (finding) => stepsText(finding) },
  {
    id: 'count',
    title: 'Training steps',
    align: 'end',
    cell: ({ trainingSteps, isStable }) => (
      <>
        {count(trainingSteps)}
        {!isStable && <small> too few to be sure</small>}
      </>
    ),
  },
  {
    id: 'off',
    title: 'Rows off',
    hint: 'The greatest share of rows in a step on which the claimed formula gives another number',
    align: 'end',
    cell: ({ mismatchShare }) => percent(mismatchShare),
  },
];

function worstColumns(run: string): readonly Column<WorstRow>[] {
  return [
    {
      id: 'row',
      title: 'Row',
      cell: ({ trajectory, turn, token }) => (
        <TurnLink {...{ run, trajectory, turn }}>
          <Text>{trajectory}</Text>
          {turn !== null && `, turn ${turn}`}
          {token !== null && `, token ${token}`}
        </TurnLink>
      ),
    },
    { id: 'step', title: 'Step', cell: ({ trainingStep }) => <StepLink run={run} step={trainingStep} /> },
    { id: 'group', title: 'Group', cell: ({ group }) => <Text>{group}</Text> },
    { id: 'logged', title: 'Logged', align: 'end', cell: ({ logged }) => decimal(logged, 6) },
    { id: 'recomputed', title: 'Recomputed', align: 'end', cell: ({ recomputed }) => decimal(recomputed, 6) },
  ];
}
