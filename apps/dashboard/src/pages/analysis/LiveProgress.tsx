import { useEffect, useRef } from 'react';
import { useSubscription } from 'urql';
import { graphql } from '../../graphql.js';
import { count, counted, duration } from '../../text/numbers.js';
import { ProgressBar } from '../../ui/ProgressBar.js';

const ProgressSubscription = graphql(`
  subscription AnalysisProgress($analysis: ID!) {
    analysisProgress(analysis: $analysis) {
      state
      total
      done
      cached
      failed
      rate
      secondsLeft
    }
  }
`);

interface LiveProgressProps {
  readonly analysis: string;
  readonly onEnd: () => void;
}

/** How far an analysis is, as it goes on. */
export function LiveProgress({ analysis, onEnd }: LiveProgressProps) {
  const [{ data }] = useSubscription({ query: ProgressSubscription, variables: { analysis } });
  const progress = data?.analysisProgress;
  const hasEnded = progress !== undefined && progress.state !== 'PLANNING' && progress.state !== 'RUNNING';
  const end = useRef(onEnd);
  end.current = onEnd;
  useEffect(() => {
    if (hasEnded) end.current();
  }, [hasEnded]);

  const { done = 0, total = 0, failed = 0, cached = 0, rate = null, secondsLeft = null } = progress ?? {};
  return (
    <div>
      <ProgressBar done={done + failed} total={total} label="shards computed" />
      <p className="hint">
        {total === 0 ? 'planning' : `${count(done)} of ${counted(total, 'shard')}`}
        {cached > 0 && `, ${count(cached)} known before`}
        {rate !== null && `, ${rate.toFixed(1)} per second`}
        {secondsLeft !== null && secondsLeft > 0 && `, ${duration(secondsLeft)} left`}
      </p>
    </div>
  );
}
