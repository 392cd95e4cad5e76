import { useSubscription } from 'urql';
import { graphql } from '../../graphql.js';
import { useAsked } from '../../use-asked.js';

const HeadQuery = graphql(`
  query RunHead($run: ID!) {
    run(id: $run) {
      id
      name
      position
    }
  }
`);

const HeadSubscription = graphql(`
  subscription RunHeadAdvanced($run: ID!) {
    runAdvanced(run: $run) {
      position
    }
  }
`);

/** A run's name and how many of its events are projected, as it goes on. */
export function useRunHead(id: string) {
  const { data, error, again } = useAsked({ query: HeadQuery, variables: { run: id } });
  const [live] = useSubscription({ query: HeadSubscription, variables: { run: id }, pause: !data?.run });
  const run = data?.run;
  const position = Math.max(live.data?.runAdvanced.position ?? 0, run?.position ?? 0);
  return { isAsked: data !== undefined, run, position, error, isLive: !live.error, again };
}
