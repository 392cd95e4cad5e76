/** The same object, but for one field. */
export function without<Value extends object, Name extends keyof Value>(value: Value, name: Name): Omit<Value, Name> {
  const rest: Partial<Value> = { ...value };
  delete rest[name];
  return rest as Omit<Value, Name>;
}
