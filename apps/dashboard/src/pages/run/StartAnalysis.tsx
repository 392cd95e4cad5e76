import { useState } from 'react';
import { useMutation } from 'urql';
import { graphql, readFragment } from '../../graphql.js';
import { counted } from '../../text/numbers.js';
import { Failure, Skeleton } from '../../ui/Notice.js';
import { submitted } from '../../ui/submitted.js';
import { EstimatorChoice, EstimatorFields } from './EstimatorChoice.js';
import { without } from '../../without.js';
import { useAsked } from '../../use-asked.js';
import { missingSignals } from './missing-signals.js';
import { refusalText } from '../../text/refusal.js';

const CatalogueQuery = graphql(
  `
    query Catalogue($run: ID!) {
      estimators {
        ...EstimatorChoice
      }
      run(id: $run) {
        id
        signals {
          level
          name
        }
      }
    }
  `,
  [EstimatorFields],
);

const StartMutation = graphql(`
  mutation StartAnalysis($input: StartAnalysisInput!) {
    startAnalysis(input: $input) {
      id
      state
    }
  }
`);

interface StartAnalysisProps {
  readonly run: string;
  readonly onStarted: () => void;
}

export function StartAnalysis({ run, onStarted }: StartAnalysisProps) {
  const { data, error, again } = useAsked({
    query: CatalogueQuery,
    variables: { run },
    requestPolicy: 'cache-and-network',
  });
  const [{ fetching, error: refusal }, start] = useMutation(StartMutation);
  const [params, setParams] = useState<Readonly<Record<string, object>>>({});

  if (error) return <Failure message={error.message} onRetry={again} />;
  if (!data) return <Skeleton height={44} count={6} />;
  const signals = data.run?.signals ?? [];
  const chosen = Object.keys(params);

  const choices = data.estimators.map((masked) => {
    const estimator = readFragment(EstimatorFields, masked);
    return { estimator, missing: missingSignals(estimator.requires, signals) };
  });
  const lacking = choices.filter(({ missing }) => missing.length > 0).length;

  const choose = (id: string, next: object | null) =>
    setParams((old) => (next === null ? without(old, id) : { ...old, [id]: next }));
  const choice = ({ estimator, missing }: (typeof choices)[number]) => (
    <EstimatorChoice
      key={estimator.id}
      estimator={estimator}
      missing={missing}
      params={params[estimator.id] ?? null}
      onChange={(next) => choose(estimator.id, next)}
    />
  );
  const submit = async () => {
    const estimators = chosen.map((id) => ({ id, params: params[id] }));
    const answer = await start({ input: { runs: [{ run }], estimators } });
    if (!answer.error) onStarted();
  };

  return (
    <form className="analysis" onSubmit={submitted(submit)}>
      <fieldset className="estimators">
        <legend className="hint">Estimators, over all training steps, as of now</legend>
        {choices.filter(({ missing }) => missing.length === 0).map(choice)}
      </fieldset>
      {lacking > 0 && (
        <details>
          <summary>{counted(lacking, 'more estimator')}: the run lacks signals that they need</summary>
          <div className="estimators">{choices.filter(({ missing }) => missing.length > 0).map(choice)}</div>
        </details>
      )}
      {refusal && (
        <p className="lacking" role="alert">
          {refusalText(refusal)}
        </p>
      )}
      <div className="form-end">
        <button className="primary" disabled={fetching || chosen.length === 0}>
          Start
        </button>
        <span className="hint">{chosen.length === 0 ? 'choose at least one' : `${chosen.length} chosen`}</span>
      </div>
    </form>
  );
}
