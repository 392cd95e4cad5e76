import { useState } from 'react';
import { useClient } from 'urql';
import { saveFile } from '../../save-file.js';
import { refusalText } from '../../text/refusal.js';
import { WholePlanQuery } from './queries.js';

interface ExportPlanProps {
  readonly run: string;
  readonly name: string;
}

/** All of the plan as a file, the turns to replay included. */
export function ExportPlan({ run, name }: ExportPlanProps) {
  const client = useClient();
  const [isAsking, setAsking] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const save = async () => {
    setAsking(true);
    const { data, error } = await client.query(WholePlanQuery, { run }, { requestPolicy: 'network-only' }).toPromise();
    setAsking(false);
    setProblem(error ? refusalText(error) : null);
    if (data?.run) saveFile(`${name}.plan.json`, JSON.stringify({ run, ...data.run.plan }, withoutTypes, 2));
  };
  return (
    <span className="filters head-link">
      {problem !== null && (
        <span className="lacking" role="alert">
          {problem}
        </span>
      )}
      <button type="button" disabled={isAsking} onClick={() => void save()}>
        Export JSON
      </button>
    </span>
  );
}

/** The client writes the type of each object into it. */
function withoutTypes(name: string, value: unknown): unknown {
  return name === '__typename' ? undefined : value;
}
