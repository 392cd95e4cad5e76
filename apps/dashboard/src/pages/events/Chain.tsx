import { count, counted } from '../../text/numbers.js';
import { graphql } from '../../graphql.js';
import { Figures } from '../../ui/Figures.js';
import { Failure } from '../../ui/Notice.js';
import { Panel } from '../../ui/Panel.js';
import { ProgressBar } from '../../ui/ProgressBar.js';
import { useLiveQuery } from '../run/live-query.js';
import { useVerification, type Verified } from './use-verification.js';

const LogQuery = graphql(`
  query RunLog($run: ID!) {
    run(id: $run) {
      id
      log {
        position
        chainHash
        erasedPosition
      }
    }
  }
`);

interface ChainProps {
  readonly run: string;
  /** events projected */
  readonly position: number;
}

/** Where the log ends, and whether it is as it was acknowledged, for those who ask. */
export function Chain({ run, position }: ChainProps) {
  const { data, error, again } = useLiveQuery(LogQuery, { run }, position);
  const { verified, isWalking, problem, walk } = useVerification(run);
  const log = data?.run?.log;
  const events = Math.max(log?.position ?? 0, position);
  const waiting = events - position;
  const isLevel = verified.isWhole && verified.position >= events;
  return (
    <Panel
      title="Chain"
      hint="every batch is hashed together with the one before it"
      actions={
        <button type="button" disabled={isWalking || !log || isLevel || verified.broken !== null} onClick={walk}>
          {verified.position > 0 && !isLevel ? 'Verify the rest' : 'Verify'}
        </button>
      }
    >
      <Figures
        figures={[
          {
            name: 'Events in the log',
            value: count(events),
            ...(waiting > 0 && { note: `${count(waiting)} not projected yet` }),
          },
          {
            name: 'Verified',
            value: verifiedText(verified, events),
            ...(verified.position > 0 && { note: 'as they were acknowledged' }),
          },
          {
            name: 'Chain hash at its head',
            value: log ? <HashText hash={log.chainHash} /> : '–',
          },
        ]}
      />
      {log?.erasedPosition != null && (
        <p className="lacking">
          Erased: of the events before position {count(log.erasedPosition)} the hashes are left, and nothing else.
        </p>
      )}
      {isWalking && <ProgressBar done={verified.position} total={events} label="events verified" />}
      {verified.broken && <Broken {...verified.broken} />}
      {error && <Failure message={error.message} onRetry={again} />}
      {problem && <Failure message={problem} onRetry={walk} />}
    </Panel>
  );
}

function verifiedText({ position, isWhole }: Verified, events: number): string {
  if (position === 0 && !isWhole) return 'not yet';
  return position >= events && isWhole ? 'all' : `${count(position)} of ${count(events)}`;
}

/** The whole of it: somebody may have kept it, to compare. */
function HashText({ hash }: { readonly hash: string }) {
  return <code className="hash">{hash}</code>;
}

function Broken({ position, producerId, sequence, what, expected, found }: NonNullable<Verified['broken']>) {
  const place =
    producerId === null ? 'the head of the run' : `the batch that begins there (${producerId}, batch ${sequence})`;
  return (
    <div className="notice notice-error" role="alert">
      <p className="notice-title">The log is broken at position {count(position)}</p>
      <p>
        {counted(position, 'event')} before it are as they were acknowledged. Of {place} the {what} is wrong: expected{' '}
        <code>{expected}</code>, found <code>{found}</code>.
      </p>
    </div>
  );
}
