import type { Prepared } from "../prepared.ts"

// One count for all schedules and documents, so that a record that is deleted and created again never has an old version.
const TAKE_VERSIONS = `
  update belfry_meta
  set last_version = last_version + ?
  returning last_version`

/** Takes that many new versions, and returns the last. */
export function takeVersions(connection: Prepared, count: number): number {
  return (connection.prepare(TAKE_VERSIONS).get(count) as { last_version: number }).last_version
}
