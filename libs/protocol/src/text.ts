import { canonicalJson } from '#lib/kernel';
import type { Text } from './fields.js';

/** The one spelling of a state or action: the text itself, or its chat messages as canonical JSON. Equal spellings are equal keys. */
export function textKey(text: Text): string {
  return typeof text === 'string' ? text : canonicalJson(text);
}
