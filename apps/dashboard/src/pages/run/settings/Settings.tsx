import { useMemo, useState } from 'react';
import { mayAnalyze, useSession } from '../../../session.js';
import { ago } from '../../../text/numbers.js';
import { visibleText } from '../../../text/visible-text.js';
import { DataTable, type Column } from '../../../ui/DataTable.js';
import { Failure, Skeleton } from '../../../ui/Notice.js';
import { Text } from '../../../ui/Text.js';
import { useAsked } from '../../../use-asked.js';
import { wordsOf } from '../diagnostic-text.js';
import { CatalogueQuery, settingsOf, type Origin, type SettingsInForce } from './queries.js';
import { settingFields, settingText, type SettingField } from './setting-fields.js';
import { SettingsForm } from './SettingsForm.js';

interface SettingsProps {
  readonly run: string;
  readonly diagnostic: string;
  readonly inForce: SettingsInForce;
  /** version of the settings that it was measured with */
  readonly measuredWith: number;
  readonly onSet: () => void;
}

/** What a diagnostic is asked with: each setting, where it differs from its default, and who wanted it so. */
export function Settings({ run, diagnostic, inForce, measuredWith, onSet }: SettingsProps) {
  const { session } = useSession();
  const { data, error, again } = useAsked({ query: CatalogueQuery, variables: {} });
  const [isChanging, setChanging] = useState(false);
  const schema = data?.diagnosticCatalogue.find(({ id }) => id === diagnostic)?.settings;
  const fields = useMemo(() => settingFields(schema), [schema]);
  const given = settingsOf(inForce, diagnostic);
  const columns = columnsOf(
    given,
    inForce.origins.filter((origin) => origin.diagnostic === diagnostic),
    session.keyId,
  );
  return (
    <section className="settings" aria-label="Settings">
      <header className="panel-head">
        <h4>Settings</h4>
        <span className="hint">
          {Object.keys(given).length === 0 ? 'all as they are by default' : `${Object.keys(given).length} set`}
          {measuredWith < inForce.version && '; measured again with them in a moment'}
        </span>
        {mayAnalyze(session) && data && !isChanging && (
          <span className="panel-actions">
            <button type="button" onClick={() => setChanging(true)}>
              Change
            </button>
          </span>
        )}
      </header>
      {error && <Failure message={error.message} onRetry={again} />}
      {!data && !error && <Skeleton height={30} count={3} />}
      {data && !isChanging && (
        <DataTable<SettingField> label="Settings" rows={fields} columns={columns} keyOf={({ name }) => name} />
      )}
      {isChanging && (
        <SettingsForm
          {...{ run, diagnostic, fields, given }}
          onEnd={(isSet) => {
            setChanging(false);
            if (isSet) onSet();
          }}
        />
      )}
    </section>
  );
}

function columnsOf(
  given: Readonly<Record<string, unknown>>,
  origins: readonly Origin[],
  ownKey: string,
): readonly Column<SettingField>[] {
  const isSet = ({ name }: SettingField) => Object.hasOwn(given, name);
  return [
    {
      id: 'name',
      title: 'Setting',
      cell: ({ name, description }) => (
        <>
          {wordsOf(name)} <small>{description}</small>
        </>
      ),
    },
    {
      id: 'value',
      title: 'In force',
      align: 'end',
      cell: (field) => (isSet(field) ? <b>{shown(given[field.name])}</b> : shown(field.standard)),
    },
    { id: 'default', title: 'Default', align: 'end', cell: (field) => isSet(field) && shown(field.standard) },
    {
      id: 'by',
      title: 'Set by',
      cell: (field) => {
        const origin = isSet(field) && origins.find(({ name }) => name === field.name);
        return origin && <SetBy origin={origin} ownKey={ownKey} />;
      },
    },
  ];
}

/** A setting without a default is left to what reads it. */
const shown = (value: unknown) => (value === undefined ? '–' : visibleText(settingText(value) || 'none'));

function SetBy({ origin: { setBy, keyName, setAt }, ownKey }: { readonly origin: Origin; readonly ownKey: string }) {
  return (
    <>
      {setBy === ownKey ? 'this key' : setBy === null ? 'the platform' : <Text>{keyName ?? `key ${setBy}`}</Text>},{' '}
      {ago(setAt, Date.now())}
    </>
  );
}
