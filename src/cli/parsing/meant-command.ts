import { COMMANDS, GROUPS } from "../commands.ts"
import { nearestTo } from "../session/lookups.ts"

/** What other programs call it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  cron: "schedule",
  crons: "schedule",
  job: "schedule",
  jobs: "schedule",
  ps: "top",
  status: "doctor",
  serve: "start",
  up: "start",
}

/** The commands that somebody may have meant by words whose first is none; empty if nothing is near. */
export function meantCommands(first: string, second: string | undefined): readonly string[] {
  const groups = Object.keys(GROUPS)
  const ofGroups = groups.map((group) => `${group} ${first}`).filter(isCommand)
  if (ofGroups.length > 0) return ofGroups
  const firsts = [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))]
  const near = Object.hasOwn(ELSEWHERE, first) ? ELSEWHERE[first]! : nearestTo(first, firsts)
  if (near === null) return []
  const whole = second === undefined ? near : `${near} ${second}`
  return [groups.includes(near) && isCommand(whole) ? whole : near]
}

function isCommand(name: string): boolean {
  return COMMANDS.some((spec) => spec.name === name)
}
