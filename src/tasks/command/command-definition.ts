import { BelfryError } from "../../core/errors.ts"
import {
  checked,
  copied,
  isRecordLike,
  type OptionSource,
  type OptionType,
  refusal,
} from "../../core/options/checked.ts"
import { duration, flag, integer, list, required, text, unread } from "../../core/options/option-types.ts"
import type { Duration } from "../../core/time/duration.ts"
import { HOUR } from "../../core/time/instant.ts"
import { shown } from "../../core/values/shown.ts"

/** A command that payloads may name: a program and its arguments, never a shell command line. */
export interface CommandDefinition {
  /** The program, then its arguments. `{name}` is replaced by an argument of the payload, within its element. */
  readonly argv: readonly string[]
  readonly args?: Readonly<Record<string, ArgumentDefinition>>
  /** The working folder. Default: the worker's. */
  readonly cwd?: string
  /** Names of the worker's environment variables that the command gets, in addition to PATH, HOME, LANG and TZ. */
  readonly env?: readonly string[]
  /** Default 1 hour. */
  readonly timeout?: Duration
  /** Runs the command as this user. The worker must be root. Needs `gid`: otherwise the command would keep root's group. */
  readonly uid?: number
  /** Runs the command in this group and in no other. */
  readonly gid?: number
}

/** The values that a payload may give for one argument. Exactly one of `pattern` and `oneOf` is needed. */
export interface ArgumentDefinition {
  /** Must match the whole value. */
  readonly pattern?: string | RegExp
  readonly oneOf?: readonly string[]
  /** Used if the payload lacks the argument. Without a default, the argument is required. */
  readonly default?: string
  /** In characters. Default 256. */
  readonly maxLength?: number
  /** Default false: a program would take a value that starts with "-" for an option. */
  readonly mayStartWithDash?: boolean
}

/** A checked definition. */
export interface Command {
  readonly name: string
  readonly argv: readonly string[]
  readonly args: ReadonlyMap<string, Argument>
  readonly cwd: string | null
  readonly env: readonly string[]
  readonly timeoutMs: number
  readonly uid: number | null
  readonly gid: number | null
}

export interface Argument {
  readonly default: string | null
  /** Why the value can't be used. Null: it can. */
  refusalOf(value: string): string | null
}

const PLACEHOLDER = /\{([A-Za-z]\w*)\}/g
const ARGUMENT_MAX_LENGTH = 256

/** POSIX reserves the next higher id for "none". */
const ID_MAX = 4_294_967_294

const COMMAND_OPTIONS = {
  argv: required(unread),
  args: unread,
  cwd: text({ min: 1, max: 4_096 }),
  env: list(text({ min: 1, max: 200 }), { max: 1_000 }),
  timeout: duration({ min: 1 }),
  uid: integer(0, ID_MAX),
  gid: integer(0, ID_MAX),
} satisfies Record<keyof CommandDefinition, OptionType<unknown>>

const ARGUMENT_OPTIONS = {
  pattern: unread,
  oneOf: list(text({ min: 0, max: 10_000 }), { min: 1, max: 1_000 }),
  default: text({ min: 0, max: 10_000 }),
  maxLength: integer(1, 100_000),
  mayStartWithDash: flag,
} satisfies Record<keyof ArgumentDefinition, OptionType<unknown>>

export function defineCommand(name: string, definition: CommandDefinition): Command {
  const refuse = (reason: string, option: string): never => {
    throw new BelfryError("BELFRY_TASK_INVALID", `Command ${shown(name)} ${reason}.`, { details: { option } })
  }
  const source: OptionSource = { code: "BELFRY_TASK_INVALID", subject: `Command ${shown(name)}` }
  const { cwd, env = [], timeout = HOUR, uid, gid } = checked(definition, COMMAND_OPTIONS, source)
  const { argv, args: givenArgs } = copied(definition, { source, option: "options" })
  const args = givenArgs ?? {}
  if (!isRecordLike(args)) refuse("has `args` that is not an object", "args")
  if (!/^[\w.:-]{1,100}$/.test(name))
    refuse('has an invalid name: use letters, digits, "_", "-", "." and ":"', "commands")
  if (!Array.isArray(argv) || argv.length === 0 || !argv.every((part) => typeof part === "string"))
    refuse(
      'needs `argv`, a list of strings such as ["pg_dump", "{db}"]; a shell command line is not possible',
      "argv",
    )
  if (argv[0] === "" || placeholdersIn(argv[0]!).length > 0)
    refuse("must name its program without placeholders", "argv")
  if (argv.some((part) => part.includes("\0"))) refuse("has a NUL character in `argv`", "argv")
  const used = new Set(argv.flatMap(placeholdersIn))
  const unknown = [...used].find((argument) => !Object.hasOwn(args, argument))
  if (unknown !== undefined) refuse(`has {${unknown}} in \`argv\`, but no such argument in \`args\``, "argv")
  const unused = Object.keys(args).find((argument) => !used.has(argument))
  if (unused !== undefined) refuse(`has the argument "${unused}", but no {${unused}} in \`argv\``, "args")
  if (uid !== undefined && gid === undefined)
    throw refusal(
      { source, option: "gid" },
      "has to be given with uid: the command would keep the worker's group",
    )
  return {
    name,
    argv,
    args: new Map(
      Object.entries(args).map(([argument, spec]) => [
        argument,
        defineArgument(spec, argument, refuse, source),
      ]),
    ),
    cwd: cwd ?? null,
    env,
    timeoutMs: timeout,
    uid: uid ?? null,
    gid: gid ?? null,
  }
}

function defineArgument(
  spec: ArgumentDefinition,
  name: string,
  refuse: (reason: string, option: string) => never,
  source: OptionSource,
): Argument {
  const given = checked(spec, ARGUMENT_OPTIONS, source, `args.${name}`)
  const { oneOf, maxLength = ARGUMENT_MAX_LENGTH, mayStartWithDash = false } = given
  const { pattern } = spec
  if ((pattern === undefined) === (oneOf === undefined))
    return refuse(`needs either \`pattern\` or \`oneOf\` for argument "${name}"`, `args.${name}`)
  const whole = pattern === undefined ? null : wholePattern(pattern)
  const refusalOf = (value: string): string | null => {
    if (value.length > maxLength) return `is longer than ${maxLength} characters`
    if (value.includes("\0")) return "contains a NUL character"
    if (value.startsWith("-") && !mayStartWithDash)
      return 'starts with "-", so it would be taken for an option'
    if (oneOf !== undefined) return oneOf.includes(value) ? null : `is not one of ${oneOf.join(", ")}`
    return whole?.test(value) === true ? null : `doesn't match ${whole?.source}`
  }
  const reason = given.default === undefined ? null : refusalOf(given.default)
  if (reason !== null) return refuse(`has a default for argument "${name}" that ${reason}`, `args.${name}`)
  return { default: given.default ?? null, refusalOf }
}

/** Matches the whole value, however the pattern was written. Without `m`, with which a match of one line would be enough. */
function wholePattern(pattern: string | RegExp): RegExp {
  const [source, flags] = typeof pattern === "string" ? [pattern, "u"] : [pattern.source, pattern.flags]
  return new RegExp(`^(?:${source})$`, flags.replaceAll(/[gmy]/g, ""))
}

function placeholdersIn(part: string): readonly string[] {
  return [...part.matchAll(PLACEHOLDER)].map((match) => match[1]!)
}

/** Each element stays one element, whatever the values contain. Placeholders inside a value are not replaced. */
export function argvOf(command: Command, args: Readonly<Record<string, string>>): readonly string[] {
  return command.argv.map((part) => part.replaceAll(PLACEHOLDER, (_, name: string) => args[name]!))
}
