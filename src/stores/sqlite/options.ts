import type { OptionType } from "../../core/options/checked.ts"
import { choice, required, text } from "../../core/options/option-types.ts"

export interface SqliteOptions {
  /** The file, which is created if it doesn't exist. `:memory:` keeps all data in the memory of the process. */
  readonly path: string
  /**
   * `normal`: a crash of the process loses nothing; a power cut may lose the last writes. `full`: a power cut loses nothing
   * either, and each write waits for the disk.
   */
  readonly durability?: "normal" | "full"
}

export const SQLITE_PATH = required(text({ min: 1, max: 4_096 }))

export const SQLITE_OPTIONS = {
  path: SQLITE_PATH,
  durability: choice("normal", "full"),
} satisfies Record<keyof SqliteOptions, OptionType<unknown>>
