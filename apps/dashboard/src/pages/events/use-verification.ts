import { useCallback, useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { graphql, type ResultOf } from '../../graphql.js';

const VerifyQuery = graphql(`
  query VerifyLog($run: ID!, $from: Position!) {
    verifyLog(run: $run, from: $from) {
      position
      isWhole
      broken {
        position
        producerId
        sequence
        what
        expected
        found
      }
    }
  }
`);

export type Verified = NonNullable<ResultOf<typeof VerifyQuery>['verifyLog']>;

const NOTHING: Verified = { position: 0, isWhole: false, broken: null };

/** Walks the log of a run piece by piece; `walk` goes on from where it ended. */
export function useVerification(run: string) {
  const client = useClient();
  const [verified, setVerified] = useState(NOTHING);
  const [isWalking, setWalking] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const isHere = useRef(true);
  useEffect(() => {
    isHere.current = true;
    return () => void (isHere.current = false);
  }, []);

  const walk = useCallback(async () => {
    setWalking(true);
    setProblem(null);
    for (let last = verified; isHere.current;) {
      const answer = await client
        .query(VerifyQuery, { run, from: last.position }, { requestPolicy: 'network-only' })
        .toPromise();
      const next = answer.data?.verifyLog;
      if (!next) {
        setProblem(answer.error?.message ?? 'you see no such run');
        break;
      }
      setVerified(next);
      if (next.isWhole || next.broken) break;
      last = next;
    }
    setWalking(false);
  }, [client, run, verified]);
  return { verified, isWalking, problem, walk: () => void walk() };
}
