import type { SettingChanges } from '#lib/diagnosis';
import { RecreditError } from '#lib/kernel';

/** @throws RecreditError `params.invalid` for what is no object of objects */
export function settingChanges(given: unknown): SettingChanges {
  const wanted = 'settings: {"diagnostic": {"setting": value}} was wanted, null for a default';
  if (!isObject(given)) throw new RecreditError('params.invalid', `${wanted}; found ${shown(given)}`);
  for (const [diagnostic, settings] of Object.entries(given)) {
    if (settings === null || isObject(settings)) continue;
    throw new RecreditError('params.invalid', `${wanted}; found ${shown(settings)} under ${diagnostic}`);
  }
  return given as SettingChanges;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (value: unknown) => JSON.stringify(value).slice(0, 100);
