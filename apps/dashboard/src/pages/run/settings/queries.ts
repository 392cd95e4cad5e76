import { graphql, type ResultOf } from '../../../graphql.js';

/** What the diagnostics of the run are asked with, where that is not their default. */
export const SettingsFields = graphql(`
  fragment SettingsInForce on DiagnosticSettings @_unmask {
    version
    settings
    origins {
      diagnostic
      name
      setBy
      keyName
      setAt
    }
  }
`);

/** The same for all runs, so it is asked once. */
export const CatalogueQuery = graphql(`
  query DiagnosticCatalogue {
    diagnosticCatalogue {
      id
      settings
    }
  }
`);

export const SetMutation = graphql(`
  mutation SetDiagnostics($run: String!, $settings: JSON!) {
    setDiagnostics(run: $run, settings: $settings) {
      version
    }
  }
`);

export type SettingsInForce = ResultOf<typeof SettingsFields>;
export type Origin = SettingsInForce['origins'][number];

/** Those of one diagnostic, by name. */
export function settingsOf({ settings }: SettingsInForce, diagnostic: string): Readonly<Record<string, unknown>> {
  return (settings as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[diagnostic] ?? {};
}
