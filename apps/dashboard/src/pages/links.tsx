import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { graphql } from '../graphql.js';
import { Text } from '../ui/Text.js';
import { useAsked } from '../use-asked.js';

const RunNameQuery = graphql(`
  query RunName($run: ID!) {
    run(id: $run) {
      id
      name
    }
  }
`);

/** By the run's name, which is asked for. */
export function RunLink({ run }: { readonly run: string }) {
  const { data } = useAsked({ query: RunNameQuery, variables: { run } });
  return (
    <Link to="/runs/$run" params={{ run }}>
      {data ? <Text>{data.run?.name ?? run}</Text> : '…'}
    </Link>
  );
}

interface StepLinkProps {
  readonly run: string;
  readonly step: number;
  /** not said: Step 3 */
  readonly children?: ReactNode;
}

export function StepLink({ run, step, children = `Step ${step}` }: StepLinkProps) {
  return (
    <Link to="/runs/$run/steps/$step" params={{ run, step: String(step) }}>
      {children}
    </Link>
  );
}

interface TurnLinkProps {
  readonly run: string;
  readonly trajectory: string;
  /** null: the trajectory itself */
  readonly turn?: number | null;
  /** not said: its name, and which turn */
  readonly children?: ReactNode;
}

export function TurnLink({ run, trajectory, turn = null, children }: TurnLinkProps) {
  return (
    <Link to="/runs/$run/trajectories/$trajectory" params={{ run, trajectory }} search={turn === null ? {} : { turn }}>
      {children ?? (
        <>
          <Text>{trajectory}</Text>
          {turn !== null && `, turn ${turn}`}
        </>
      )}
    </Link>
  );
}
