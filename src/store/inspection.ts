import type { Check } from "../core/check.ts"

/** What is at an address before a store is opened there. Inspecting changes nothing. */
export interface Inspection {
  /** `stored` is the schema that is there, 0 if there is none; `known` is the one this version brings it to. */
  readonly schema: { readonly stored: number; readonly known: number }
  /** What the server or the file says about itself, as far as Belfry's promises depend on it. */
  readonly checks: readonly Check[]
}
