/** The exit codes of the program. Documented and stable: `docs/reference/cli.md` is generated from `EXIT_DESCRIPTIONS`. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 5,
  invalid: 6,
  unavailable: 7,
  runFailed: 8,
  runEnded: 9,
  timedOut: 124,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_DESCRIPTIONS: readonly (readonly [code: ExitCode, description: string])[] = [
  [EXIT.done, "Success; `diff` found no differences; `start` was stopped gracefully"],
  [
    EXIT.failed,
    "An error; `diff` found differences; `migrate plan` found a pending migration; `doctor` found a problem (with `--strict`, also a warning); `export` left out a broken schedule",
  ],
  [EXIT.usage, "Invalid usage, an unreadable configuration, or a missing confirmation (`--yes`)"],
  [EXIT.notFound, "The schedule, run or file does not exist"],
  [
    EXIT.conflict,
    "Conflict: the id is in use, the record was changed in the meantime, or its state does not allow the change. If several records were given, the other changes are made",
  ],
  [EXIT.invalid, "A value or a definition is invalid, or a lint found an error"],
  [EXIT.unavailable, "The store can't be opened or doesn't answer"],
  [EXIT.runFailed, "The awaited run failed"],
  [EXIT.runEnded, "The awaited run was cancelled or skipped"],
  [EXIT.timedOut, "`--timeout` expired; the run continues"],
  [
    EXIT.interrupted,
    "Interrupted by Ctrl-C at a question or while waiting, or twice during `start`; runs continue, or other workers take them over",
  ],
  [EXIT.terminated, "A second SIGTERM during `start` ended the program at once"],
]
