import { useId, useState } from 'react';
import { useMutation } from 'urql';
import { refusalText } from '../../../text/refusal.js';
import { wordsOf } from '../diagnostic-text.js';
import { SetMutation } from './queries.js';
import { settingChanges, settingText, type SettingField } from './setting-fields.js';
import { settingRefusals } from './setting-refusals.js';
import { submitted } from '../../../ui/submitted.js';

interface SettingsFormProps {
  readonly run: string;
  readonly diagnostic: string;
  readonly fields: readonly SettingField[];
  /** what differs from the defaults */
  readonly given: Readonly<Record<string, unknown>>;
  /** tells whether anything was set */
  readonly onEnd: (isSet: boolean) => void;
}

/** A field per setting; an empty one has its default. The API judges what is written, and its word stands beside it. */
export function SettingsForm({ run, diagnostic, fields, given, onEnd }: SettingsFormProps) {
  const [{ fetching, error }, set] = useMutation(SetMutation);
  const before = Object.fromEntries(fields.map(({ name }) => [name, settingText(given[name])]));
  const [texts, setTexts] = useState(before);
  const changes = settingChanges(before, texts);
  const refusals = error ? settingRefusals(error) : null;
  const submit = async () => {
    const answer = await set({ run, settings: { [diagnostic]: changes } });
    if (!answer.error) onEnd(true);
  };
  return (
    <form onSubmit={submitted(submit)}>
      <div className="setting-fields">
        {fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            text={texts[field.name]}
            refusal={refusals?.get(field.name)}
            onChange={(text) => setTexts((old) => ({ ...old, [field.name]: text }))}
          />
        ))}
      </div>
      {error && refusals?.size === 0 && (
        <p className="lacking" role="alert">
          {refusalText(error)}
        </p>
      )}
      <div className="form-end">
        <button className="primary" disabled={fetching || Object.keys(changes).length === 0}>
          Ask with these
        </button>
        <button type="button" onClick={() => onEnd(false)}>
          Cancel
        </button>
        <span className="hint">an empty field has its default; the run is measured again, and its alerts follow</span>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly field: SettingField;
  readonly text: string;
  readonly refusal: string | undefined;
  readonly onChange: (text: string) => void;
}

function Field({ field: { name, description, choices, wanted, standard }, text, refusal, onChange }: FieldProps) {
  const says = useId();
  const standardText = settingText(standard) || 'none';
  const shared = { value: text, 'aria-describedby': says, 'aria-invalid': refusal !== undefined };
  return (
    <div>
      <label>
        {wordsOf(name)}
        {choices ? (
          <select {...shared} onChange={({ target }) => onChange(target.value)}>
            <option value="">default: {standardText}</option>
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        ) : (
          <input
            {...shared}
            inputMode={wanted.includes('number') ? 'decimal' : 'text'}
            placeholder={standardText}
            onChange={({ target }) => onChange(target.value)}
          />
        )}
      </label>
      <p
        id={says}
        className={refusal === undefined ? 'hint' : 'lacking'}
        role={refusal === undefined ? undefined : 'alert'}
      >
        {refusal ?? [description, wanted].filter((part) => part !== '').join('; ')}
      </p>
    </div>
  );
}
