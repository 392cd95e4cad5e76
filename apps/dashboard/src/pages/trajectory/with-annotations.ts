import type { AnnotationOfTrajectory, Turn } from './queries.js';

/** Turns with what annotators said of them among their signals: of one name the last word counts. */
export function withAnnotations(turns: readonly Turn[], annotations: readonly AnnotationOfTrajectory[]): Turn[] {
  const byTurn = Map.groupBy(
    annotations.filter(({ failure }) => failure === null),
    ({ turn }) => turn,
  );
  return turns.map((turn) => {
    const said = byTurn.get(turn.index);
    if (!said) return turn;
    const signals: object = Object.assign({}, turn.signals, ...said.map((one) => one.signals));
    return { ...turn, signals };
  });
}
