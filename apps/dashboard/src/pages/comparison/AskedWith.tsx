import { counted } from '../../text/numbers.js';
import { paramsText } from '../../text/params.js';
import { visibleText } from '../../text/visible-text.js';
import { DataTable, type Column } from '../../ui/DataTable.js';
import type { Analysis } from './queries.js';

type Asked = Analysis['estimators'][number];

/** What each estimator was asked with, and what it remarked. */
export function AskedWith({ estimators }: { readonly estimators: readonly Asked[] }) {
  const remarks = estimators.reduce((sum, { warnings }) => sum + warnings.length, 0);
  return (
    <details className="asked-with">
      <summary>Versions and params{remarks > 0 && `, and ${counted(remarks, 'remark')}`}</summary>
      <DataTable<Asked>
        label="Versions and params"
        rows={estimators}
        columns={remarks > 0 ? [...COLUMNS, REMARKS] : COLUMNS}
        keyOf={({ label }) => label}
      />
    </details>
  );
}

const COLUMNS: readonly Column<Asked>[] = [
  { id: 'label', title: 'Estimator', cell: ({ label }) => <strong>{visibleText(label)}</strong> },
  { id: 'version', title: 'Version', cell: ({ version, hash }) => hash ?? version },
  { id: 'params', title: 'Params', cell: ({ params }) => visibleText(paramsText(params)) },
];

const REMARKS: Column<Asked> = {
  id: 'warnings',
  title: 'Remarks',
  cell: ({ warnings }) => warnings.map((text) => <p key={text}>{visibleText(text)}</p>),
};
