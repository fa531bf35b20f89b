import type { Prepared } from "../prepared.ts"

// One count for all schedules, so that one which is deleted and made again never has an old version.
const TAKE_VERSIONS = `
  update belfry_meta
  set last_version = last_version + ?
  returning last_version`

/** The last of that many new versions. */
export function takeVersions(connection: Prepared, count: number): number {
  return (connection.prepare(TAKE_VERSIONS).get(count) as { last_version: number }).last_version
}
