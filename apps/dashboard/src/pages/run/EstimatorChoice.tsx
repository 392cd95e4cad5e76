import { useId } from 'react';
import { graphql, type ResultOf } from '../../graphql.js';
import { fieldsOf, ParamField } from './ParamField.js';

export const EstimatorFields = graphql(`
  fragment EstimatorChoice on Estimator @_unmask {
    id
    title
    levels
    requires
    params
  }
`);

interface EstimatorChoiceProps {
  readonly estimator: ResultOf<typeof EstimatorFields>;
  /** signals that it needs and the run does not carry */
  readonly missing: readonly string[];
  /** null: not chosen */
  readonly params: object | null;
  readonly onChange: (params: object | null) => void;
}

/** An estimator of the catalogue: what it is, what it lacks here, and once chosen its params. */
export function EstimatorChoice({ estimator, missing, params, onChange }: EstimatorChoiceProps) {
  const id = useId();
  const fields = fieldsOf(estimator.params);
  return (
    <div className="estimator">
      <input
        id={id}
        type="checkbox"
        checked={params !== null}
        onChange={({ target }) => onChange(target.checked ? {} : null)}
      />
      <div>
        <label htmlFor={id}>{estimator.id}</label>
        <p>
          {estimator.title}, per {estimator.levels.join(' or ')}
        </p>
        {missing.length > 0 && (
          <p className="lacking">The run lacks {missing.join(' and ')}: with its default params it says nothing.</p>
        )}
        {params !== null && fields.length > 0 && (
          <details>
            <summary>Params</summary>
            <div className="params">
              {fields.map((field) => (
                <ParamField
                  key={field.name}
                  field={field}
                  value={(params as Record<string, unknown>)[field.name]}
                  onChange={(value) => onChange(changed(params, field.name, value))}
                />
              ))}
            </div>
          </details>
        )}
      </div>
    </div>
  );
}

/** What is not said is left out, so that it has its default. */
function changed(params: object, name: string, value: unknown): object {
  const rest = Object.fromEntries(Object.entries(params).filter(([one]) => one !== name));
  return value === undefined ? rest : { ...rest, [name]: value };
}
