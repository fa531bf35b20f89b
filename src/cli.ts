#!/usr/bin/env node
/** The command line: `belfry`. */

// Enables the compile cache of Node 22 and later (Node 20 has none). The program is imported afterwards, so all of it is cached.
const { enableCompileCache } = (process.getBuiltinModule?.("node:module") ?? {}) as {
  enableCompileCache?: () => unknown
}
enableCompileCache?.()

const [{ main }, { processIo }] = await Promise.all([import("./cli/main.ts"), import("./cli/terminal/io.ts")])

process.exitCode = await main(process.argv.slice(2), processIo())

// Makes this file a module: all its imports are dynamic, and top-level `await` needs a module.
export {}
