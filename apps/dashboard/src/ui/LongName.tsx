import { Text } from './Text.js';

/** Names of siblings differ at their end, so that stays where there is no room for all of it. */
const KEPT = 8;

/** A name that loses its middle where it does not fit: `two-book-19.s…step-3.4`. */
export function LongName({ children }: { readonly children: string }) {
  const letters = [...children];
  if (letters.length <= 2 * KEPT) return <Text>{children}</Text>;
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
