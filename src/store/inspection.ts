import type { Check } from "./check.ts"

/** The state of a database before a store is opened on it. Inspecting changes nothing. */
export interface Inspection {
  /** `stored`: the schema version in the database; 0 if there is none. `known`: the version that this Belfry migrates to. */
  readonly schema: { readonly stored: number; readonly known: number }
  /** Settings of the server or the file that Belfry's promises depend on. */
  readonly checks: readonly Check[]
}
