import { version } from "../../runtime/version.ts"
import type { Call } from "../parsing/command.ts"
import { showRecord } from "../printing/output.ts"

export async function printVersion(call: Call): Promise<undefined> {
  const { node, tz, icu } = process.versions
  const versions = { belfry: version(), node, timeZones: tz ?? null, icu: icu ?? null }
  if (call.flags.isOn("json")) await showRecord(call, versions, "json")
  else call.io.out(`belfry ${version()} · Node.js ${node} · time zones ${tz ?? "unknown"}\n`)
  return undefined
}
