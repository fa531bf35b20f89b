import { existsSync, readFileSync } from "node:fs"
import { extname, isAbsolute, join } from "node:path"
import { pathToFileURL } from "node:url"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Config } from "./config.ts"
import { isObject, SETTINGS } from "./config-settings.ts"

export interface LoadedConfig {
  readonly path: string
  readonly config: Config
  /** Other configurations in the same folder. They are not read. */
  readonly unread: readonly string[]
}

const NAMES = ["ts", "mjs", "js", "json", "yaml"].map((ending) => `belfry.config.${ending}`)

/** The named configuration, or the one in this folder. Null: none. */
export async function loadConfig(cwd: string, named: string | undefined): Promise<LoadedConfig | null> {
  const [path, ...unread] = named === undefined ? found(cwd) : [resolved(cwd, named)]
  if (path === undefined) return null
  if (!existsSync(path))
    throw new CliError(
      EXIT.notFound,
      `There is no configuration at ${path}.`,
      "Check --config or BELFRY_CONFIG.",
    )
  const value = DATA.has(extname(path)) ? await readData(path) : await evaluate(path)
  return { path, config: checked(value, path), unread }
}

function found(cwd: string): readonly string[] {
  return NAMES.map((name) => join(cwd, name)).filter((path) => existsSync(path))
}

function resolved(cwd: string, path: string): string {
  return isAbsolute(path) ? path : join(cwd, path)
}

const DATA = new Set([".json", ".yaml", ".yml"])

async function readData(path: string): Promise<unknown> {
  try {
    const text = readFileSync(path, "utf8")
    return extname(path) === ".json" ? JSON.parse(text) : (await import("yaml")).parse(text)
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

async function evaluate(path: string): Promise<unknown> {
  try {
    const module = extname(path) === ".ts" ? await importTypeScript(path) : await importPlain(path)
    return (module as { default?: unknown }).default
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

function importPlain(path: string): Promise<unknown> {
  return import(/* @vite-ignore */ pathToFileURL(path).href)
}

/**
 * By Node itself if it can strip types (Node 22.18, 23.6 and later). Otherwise, and in packages of another module type, by
 * jiti.
 */
async function importTypeScript(path: string): Promise<unknown> {
  const { features } = process as unknown as { features: { typescript?: unknown } }
  if (features.typescript !== undefined && features.typescript !== false) {
    try {
      return await importPlain(path)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      // Type stripping doesn't support enums and import paths without an extension.
      if (code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX" && code !== "ERR_MODULE_NOT_FOUND") throw error
    }
  }
  const { createJiti } = await import("jiti")
  return createJiti(import.meta.url, { moduleCache: false, fsCache: false }).import(path)
}

function unreadable(path: string, cause: unknown): CliError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new CliError(
    EXIT.usage,
    `The configuration ${path} can't be read: ${why.split("\n")[0]}`,
    "Correct it, use another with --config, or use none with --no-config.",
    cause,
  )
}

/** Refuses unknown settings. Otherwise a misspelt setting would be ignored without notice. */
function checked(value: unknown, path: string): Config {
  if (!isObject(value) || Array.isArray(value)) {
    throw new CliError(
      EXIT.usage,
      `The configuration ${path} is not an object.`,
      "Its default export must be an object: defineConfig({ … }), imported from belfry/config.",
    )
  }
  for (const [setting, given] of Object.entries(value)) {
    const spec = Object.hasOwn(SETTINGS, setting) ? SETTINGS[setting as keyof Config] : undefined
    if (spec === undefined) {
      throw new CliError(
        EXIT.usage,
        `The configuration ${path} has an unknown setting "${setting}".`,
        `Known settings: ${Object.keys(SETTINGS).join(", ")}. See docs/reference/configuration.md`,
      )
    }
    if (given !== undefined && !spec.isOfType(given))
      throw new CliError(
        EXIT.usage,
        `The setting "${setting}" in ${path} has the wrong type: ${kindWords(given)}.`,
        `It must be ${spec.type}. See docs/reference/configuration.md`,
      )
  }
  checkCommand(value, path)
  checkSql(value, path)
  return value as Config
}

const COMMAND_SETTINGS = ["grace", "maxLines", "maxOutputBytes", "retry"]

/** `command` is easily confused with `commands`. */
function checkCommand({ command = {}, commands }: Config, path: string): void {
  const unknown = Object.keys(command).find((setting) => !COMMAND_SETTINGS.includes(setting))
  if (unknown !== undefined)
    throw new CliError(
      EXIT.usage,
      `The setting "command" in ${path} has an unknown part "${unknown}".`,
      `Known parts: ${COMMAND_SETTINGS.join(", ")}. Commands are defined under "commands".`,
    )
  if (Object.keys(command).length > 0 && commands === undefined)
    throw new CliError(
      EXIT.usage,
      `The setting "command" in ${path} has no effect without "commands".`,
      `Add "commands", or remove "command".`,
    )
}

const SQL_SETTINGS = [
  "schemas",
  "url",
  "connections",
  "role",
  "timeout",
  "lockTimeout",
  "maxResultBytes",
  "retry",
]

/** Refuses unknown parts. Otherwise a misspelt limit would be ignored without notice. */
function checkSql({ sql = { schemas: [] } }: Config, path: string): void {
  const unknown = Object.keys(sql).find((setting) => !SQL_SETTINGS.includes(setting))
  if (unknown !== undefined)
    throw new CliError(
      EXIT.usage,
      `The setting "sql" in ${path} has an unknown part "${unknown}".`,
      `Known parts: ${SQL_SETTINGS.join(", ")}.`,
    )
}

/** The value itself is not printed, because it may be an address with a password. */
function kindWords(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`
}
