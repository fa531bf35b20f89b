import fc from "fast-check"

/**
 * All properties are checked with one fixed seed, so that the quick suite tests the same cases every time. For other cases:
 * `BELFRY_SEED=7 npx vitest run --project fast-in-memory src/core`. A failure prints its seed and the path to the case.
 */
export const SEED = Number(process.env["BELFRY_SEED"] ?? 20_260_329)

export function assertProperty<Values>(property: fc.IProperty<Values>, { numRuns = 100 } = {}): void {
  fc.assert(property, { seed: SEED, numRuns })
}
