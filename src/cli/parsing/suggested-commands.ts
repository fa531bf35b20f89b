import { COMMANDS, GROUPS } from "../commands.ts"
import { nearestTo } from "../session/lookups.ts"

/** Names that other programs use for a command or a group. */
const SYNONYMS: Readonly<Record<string, string>> = {
  cron: "schedule",
  crons: "schedule",
  job: "schedule",
  jobs: "schedule",
  ps: "top",
  status: "doctor",
  serve: "start",
  up: "start",
}

/** Suggestions for an unknown first word. Empty: no command is similar. */
export function suggestedCommands(first: string, second: string | undefined): readonly string[] {
  const groups = Object.keys(GROUPS)
  const ofGroups = groups.map((group) => `${group} ${first}`).filter(isCommand)
  if (ofGroups.length > 0) return ofGroups
  const firsts = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))]
  const near = Object.hasOwn(SYNONYMS, first) ? SYNONYMS[first]! : nearestTo(first, firsts)
  if (near === null) return []
  const whole = second === undefined ? near : `${near} ${second}`
  return [groups.includes(near) && isCommand(whole) ? whole : near]
}

function isCommand(name: string): boolean {
  return COMMANDS.some((spec) => spec.name === name)
}
