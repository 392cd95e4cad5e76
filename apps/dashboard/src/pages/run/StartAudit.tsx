import { useState } from 'react';
import { useMutation } from 'urql';
import { graphql } from '../../graphql.js';
import { visibleText } from '../../text/visible-text.js';
import { Failure, Skeleton } from '../../ui/Notice.js';
import { submitted } from '../../ui/submitted.js';
import { fieldsOf, ParamField } from './ParamField.js';
import { useAsked } from '../../use-asked.js';
import { missingSignals } from './missing-signals.js';
import { refusalText } from '../../text/refusal.js';

const AuditableQuery = graphql(`
  query Auditable($run: ID!) {
    estimators {
      id
      title
      gives
      params
      requires
    }
    run(id: $run) {
      id
      signals {
        level
        name
      }
    }
  }
`);

const StartAuditMutation = graphql(`
  mutation StartAudit($input: StartAuditInput!) {
    startAudit(input: $input) {
      id
      state
    }
  }
`);

const LOGGED = 'loggedAdvantage';
const FIRST = 'grpo';

interface StartAuditProps {
  readonly run: string;
  readonly onStarted: () => void;
}

/** Asks what the trainer says it did: which estimator with which params, and where it logged the numbers. */
export function StartAudit({ run, onStarted }: StartAuditProps) {
  const { data, error, again } = useAsked({ query: AuditableQuery, variables: { run } });
  const [{ fetching, error: refusal }, start] = useMutation(StartAuditMutation);
  const [chosen, setChosen] = useState(FIRST);
  const [params, setParams] = useState<Readonly<Record<string, unknown>>>({});
  const [signal, setSignal] = useState(LOGGED);

  if (error) return <Failure message={error.message} onRetry={again} />;
  if (!data) return <Skeleton height={44} count={3} />;
  const signals = data.run?.signals ?? [];
  const names = new Set(signals.filter(({ level }) => level !== 'trajectory').map(({ name }) => name));
  const estimators = data.estimators.filter(({ gives }) => gives === 'advantage' || gives === 'return');
  const estimator = estimators.find(({ id }) => id === chosen) ?? estimators.at(0);
  const missing = missingSignals(estimator?.requires ?? [], signals);
  const fields = fieldsOf(estimator?.params);
  const submit = async () => {
    if (!estimator) return;
    const answer = await start({ input: { run, estimator: estimator.id, params, signal } });
    if (!answer.error) onStarted();
  };

  return (
    <form className="analysis" onSubmit={submitted(submit)}>
      <div className="params">
        <label>
          The trainer says it used
          <select
            value={estimator?.id}
            onChange={({ target }) => {
              setChosen(target.value);
              setParams({});
            }}
          >
            {estimators.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        <label>
          and logged it as
          <select value={signal} onChange={({ target }) => setSignal(target.value)}>
            {[...new Set([LOGGED, ...names])].map((name) => (
              <option key={name} value={name}>
                {visibleText(name)}
              </option>
            ))}
          </select>
        </label>
      </div>
      {estimator && <p className="hint">{estimator.title}</p>}
      {fields.length > 0 && (
        <details>
          <summary>Params</summary>
          <div className="params">
            {fields.map((field) => (
              <ParamField
                key={`${chosen} ${field.name}`}
                field={field}
                value={params[field.name]}
                onChange={(value) =>
                  setParams((old) =>
                    Object.fromEntries(
                      Object.entries({ ...old, [field.name]: value }).filter(([, said]) => said !== undefined),
                    ),
                  )
                }
              />
            ))}
          </div>
        </details>
      )}
      {!names.has(signal) && (
        <p className="lacking">
          The run carries no {visibleText(signal)} per turn or token: there is nothing to hold against an estimator.
        </p>
      )}
      {missing.length > 0 && (
        <p className="lacking">
          The run lacks {missing.join(' and ')}: {estimator?.id} cannot be recomputed.
        </p>
      )}
      {refusal && (
        <p className="lacking" role="alert">
          {refusalText(refusal)}
        </p>
      )}
      <div className="form-end">
        <button className="primary" disabled={fetching || !estimator || !names.has(signal)}>
          Start the audit
        </button>
      </div>
    </form>
  );
}
