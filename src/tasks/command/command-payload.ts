import type { StandardSchema } from "../../core/values/standard-schema.ts"
import { type Issues, isRecord, kindOf, refuseUnknown, schemaOf } from "../schema.ts"
import type { Command } from "./command-definition.ts"

/** The payload of the command task. */
export interface CommandPayload {
  /** One of the names in the task's `commands`. */
  readonly command: string
  readonly args?: Readonly<Record<string, string | number>>
}

/** The payload as the task's code gets it: every argument is present and checked. */
export interface CommandCall {
  readonly command: string
  readonly args: Readonly<Record<string, string>>
}

export function commandPayloadSchema(
  commands: ReadonlyMap<string, Command>,
): StandardSchema<CommandPayload, CommandCall> {
  return schemaOf((value, issues) => {
    refuseUnknown(value, ["command", "args"], issues)
    const name = value["command"]
    const command = typeof name === "string" ? commands.get(name) : undefined
    if (command === undefined) {
      issues.add("command", `expected one of ${[...commands.keys()].join(", ")}`)
      return { command: "", args: {} }
    }
    return { command: command.name, args: readArguments(value["args"] ?? {}, command, issues) }
  })
}

function readArguments(value: unknown, command: Command, issues: Issues): Readonly<Record<string, string>> {
  if (!isRecord(value)) {
    issues.add("args", `expected an object, received ${kindOf(value)}`)
    return {}
  }
  for (const name of Object.keys(value)) {
    if (!command.args.has(name))
      issues.add(["args", name.slice(0, 80)], `command "${command.name}" has no such argument`)
  }
  const read = [...command.args].map(([name, argument]) => {
    const given = Object.hasOwn(value, name) ? value[name] : (argument.default ?? undefined)
    const text = Number.isFinite(given) ? String(given) : given
    if (typeof text !== "string") {
      issues.add(["args", name], `expected a string, received ${kindOf(given)}`)
      return [name, ""]
    }
    const reason = argument.refusalOf(text)
    if (reason !== null) issues.add(["args", name], reason)
    return [name, text]
  })
  return Object.fromEntries(read)
}
