import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Text } from '../../ui/Text.js';
import { TurnLink } from '../links.js';

interface Place {
  readonly trainingStep: number;
  readonly group: string | null;
  readonly trajectory: string | null;
  readonly turn: number | null;
  readonly note: string;
}

const SHOWN = 6;

/** The places that show it best, one click away. */
export function EvidenceList({ run, places }: { readonly run: string; readonly places: readonly Place[] }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <ul className="evidence">
      {(isWhole ? places : places.slice(0, SHOWN)).map((place, i) => (
        <li key={i}>
          <PlaceLink run={run} place={place} />
          <span className="hint">
            <Text>{place.note}</Text>
          </span>
        </li>
      ))}
      {!isWhole && places.length > SHOWN && (
        <li>
          <button type="button" className="chip" onClick={() => setWhole(true)}>
            {places.length - SHOWN} more
          </button>
        </li>
      )}
    </ul>
  );
}

function PlaceLink({ run, place }: { readonly run: string; readonly place: Place }) {
  const { trainingStep, group, trajectory, turn } = place;
  if (trajectory !== null) return <TurnLink {...{ run, trajectory, turn }} />;
  return (
    <Link
      to="/runs/$run/steps/$step"
      params={{ run, step: String(trainingStep) }}
      search={group === null ? {} : { group }}
    >
      Step {trainingStep}
      {group !== null && (
        <>
          , <Text>{group}</Text>
        </>
      )}
    </Link>
  );
}
