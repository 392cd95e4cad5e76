import { Link } from '@tanstack/react-router';
import { visibleText } from '../../text/visible-text.js';
import { Text } from '../../ui/Text.js';

/** Names of siblings differ at their end, so that stays where there is no room for all of it. */
const KEPT = 8;

interface TrajectoryLinkProps {
  readonly run: string;
  readonly id: string;
}

/** Leads to a trajectory by its name, which loses its middle where it does not fit: `two-book-19.s…step-3.4`. */
export function TrajectoryLink({ run, id }: TrajectoryLinkProps) {
  return (
    <Link
      className="turn-name"
      to="/runs/$run/trajectories/$trajectory"
      params={{ run, trajectory: id }}
      aria-label={visibleText(id)}
    >
      <BothEnds name={id} />
    </Link>
  );
}

function BothEnds({ name }: { readonly name: string }) {
  const letters = [...name];
  if (letters.length <= 2 * KEPT) return <Text>{name}</Text>;
  return (
    <>
      <span>
        <Text>{letters.slice(0, -KEPT).join('')}</Text>
      </span>
      <span>
        <Text>{letters.slice(-KEPT).join('')}</Text>
      </span>
    </>
  );
}
