import type { SignalColumn } from './trajectory-batch.js';

type ColumnOf<Kind extends SignalColumn['kind']> = Extract<SignalColumn, { readonly kind: Kind }>;

/** A column whose values are made when they are first asked for: what nobody reads is not decoded. */
export function laterColumn<Kind extends SignalColumn['kind']>(
  kind: Kind,
  make: () => ColumnOf<Kind>['values'],
): ColumnOf<Kind> {
  let made: SignalColumn['values'] | undefined;
  const column = {
    kind,
    get values() {
      return (made ??= make());
    },
  };
  return column as unknown as ColumnOf<Kind>;
}
