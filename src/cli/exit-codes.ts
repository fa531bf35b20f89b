/** What the program's exit says to a script. Documented and stable: `docs/reference/cli.md` is made from this table. */
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

export const EXIT_WORDS: readonly (readonly [code: ExitCode, words: string])[] = [
  [EXIT.done, "Done; `diff` found no differences; a graceful stop"],
  [
    EXIT.failed,
    "Something failed, `diff` found differences, `migrate plan` something to do, `doctor` a problem (with `--strict` a warning), or `export` a schedule that it had to leave out",
  ],
  [EXIT.usage, "Wrong usage, a configuration that can't be read, or a confirmation is needed (`--yes`)"],
  [EXIT.notFound, "There is no such schedule, run or file"],
  [
    EXIT.conflict,
    "It conflicts with what is there: taken, changed meanwhile, or in another state. Of several, those that could be done are done",
  ],
  [EXIT.invalid, "A value or a definition is invalid, or a lint found an error"],
  [EXIT.unavailable, "The store can't be opened or doesn't answer"],
  [EXIT.runFailed, "The run that was waited for failed"],
  [EXIT.runEnded, "The run that was waited for was cancelled or skipped"],
  [EXIT.timedOut, "`--timeout` passed while waiting; the run goes on"],
  [
    EXIT.interrupted,
    "Interrupted by Ctrl-C at a question or while waiting, or twice during `start`; runs go on, or are taken over",
  ],
  [EXIT.terminated, "A second SIGTERM during `start` ended it at once"],
]
