import { visiblePieces } from '../text/visible-text.js';

/** Text that somebody else wrote: only ever text nodes, and what hides in it is shown as an escape. */
export function Text({ children }: { readonly children: string }) {
  return visiblePieces(children).map(({ text, hidden }, i) =>
    hidden ? (
      <span key={i} className="escape" title="a character that cannot be seen">
        {text}
      </span>
    ) : (
      text
    ),
  );
}
