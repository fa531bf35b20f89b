import { BelfryError } from "../../core/errors.ts"

/**
 * Loads Node's own SQLite if it is new enough, otherwise the one that comes with the package. Both have the same interface,
 * so there is one code path.
 */
export async function loadDriver(modules: DriverModules = installedModules): Promise<Driver> {
  const builtIn = modules.builtIn()
  if (builtIn !== null && isSafeVersion(versionOf(builtIn))) return builtIn
  try {
    return await modules.bundled()
  } catch (cause) {
    if (builtIn === null) {
      throw new BelfryError(
        "BELFRY_STORE_UNFIT",
        `No SQLite can be loaded: this Node (${process.version}) has none, and @photostructure/sqlite doesn't load here. ` +
          "Upgrade to Node 24, or install it: npm install @photostructure/sqlite@1.2.1",
        { cause },
      )
    }
    modules.warn(
      `SQLite ${versionOf(builtIn)} of Node ${process.version} can lose writes when several processes share a file ` +
        "(https://sqlite.org/wal.html, section 11). Upgrade Node, or use one process only.",
    )
    return builtIn
  }
}

export interface Driver {
  open(path: string): Database
}

/** The part of `DatabaseSync` that Belfry uses. Both `node:sqlite` and `@photostructure/sqlite` have it. */
export interface Database {
  prepare(sql: string): Statement
  exec(sql: string): void
  close(): void
}

export interface Statement {
  run(...values: readonly Value[]): { changes: number | bigint }
  get(...values: readonly Value[]): unknown
  all(...values: readonly Value[]): unknown[]
  /** Rows as lists instead of objects. */
  setReturnArrays(isOn: boolean): void
  /** Whole numbers as BigInt. Without it, a number above `Number.MAX_SAFE_INTEGER` makes the whole read fail. */
  setReadBigInts(isOn: boolean): void
}

export type Value = string | number | null

/** The available drivers. Tests replace them. */
export interface DriverModules {
  /** Node's own. Null in Node 20, which has none. */
  builtIn(): Driver | null
  bundled(): Promise<Driver>
  warn(message: string): void
}

export const installedModules: DriverModules = {
  builtIn() {
    const module = withoutExperimentalWarning(() => process.getBuiltinModule?.("node:sqlite") ?? null)
    return module === null ? null : driverOf(module as unknown as SqliteModule)
  },
  // Loaded only if it is needed: its binary takes 3 MB of address space.
  bundled: async () => driverOf((await import("@photostructure/sqlite")) as unknown as SqliteModule),
  warn: (message) => process.emitWarning(message, { code: "BELFRY_SQLITE_OLD" }),
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => Database
}

function driverOf({ DatabaseSync }: SqliteModule): Driver {
  return { open: (path) => new DatabaseSync(path) }
}

/** Node 22 warns at every start that its SQLite is experimental. Belfry's tests cover it. Other warnings are let through. */
function withoutExperimentalWarning<T>(load: () => T): T {
  const original = process.emitWarning
  const filtered = (warning: string | Error, ...rest: unknown[]) => {
    const isAboutSqlite = rest[0] === "ExperimentalWarning" && String(warning).includes("SQLite")
    if (!isAboutSqlite) Reflect.apply(original, process, [warning, ...rest])
  }
  process.emitWarning = filtered as typeof process.emitWarning
  try {
    return load()
  } finally {
    process.emitWarning = original
  }
}

export function versionOf(driver: Driver): string {
  const database = driver.open(":memory:")
  try {
    return (database.prepare("select sqlite_version() as version").get() as { version: string }).version
  } finally {
    database.close()
  }
}

/**
 * Whether several processes may write to one file: SQLite 3.7.0 to 3.51.2 can lose a commit when two connections write and
 * checkpoint at the same time. Fixed in 3.51.3, and in 3.50.7 and 3.44.6 of the older lines.
 */
export function isSafeVersion(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number)
  if (major !== 3) return major > 3
  if (minor === 44) return patch >= 6
  if (minor === 50) return patch >= 7
  if (minor === 51) return patch >= 3
  return minor > 51
}
