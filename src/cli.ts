#!/usr/bin/env node
/** The command line: `belfry`. */

// Node 22 and later keep what they compiled: the program is loaded after this, so that all of it is. Node 20 can't.
const { enableCompileCache } = (process.getBuiltinModule?.("node:module") ?? {}) as {
  enableCompileCache?: () => unknown
}
enableCompileCache?.()

const [{ main }, { processIo }] = await Promise.all([import("./cli/main.ts"), import("./cli/terminal/io.ts")])

process.exitCode = await main(process.argv.slice(2), processIo())

// A module, although it imports only when it runs.
export {}
