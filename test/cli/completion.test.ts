import assert from "node:assert/strict"
import { chmodSync, writeFileSync } from "node:fs"
import { beforeAll, describe, test } from "vitest"
import { run } from "../support/server-programs.ts"
import { type Shell, shellProgram } from "../support/shells.ts"
import { terminal } from "./support.ts"

const RUN = "nightly@2026-03-27T01:30:00Z"
const SHELLS: readonly Shell[] = ["bash", "zsh", "fish"]

const CASES: readonly (readonly [line: string, has: readonly string[], hasNot: readonly string[]])[] = [
  ["belfry sch", ["schedule"], ["run"]],
  ["belfry ", ["schedule", "run", "next", "logs"], ["list"]],
  ["belfry s ", ["list", "trigger"], ["logs", "schedule"]],
  ["belfry schedule pa", ["pause"], ["list"]],
  ["belfry schedule pause ", ["nightly", "weekly"], ["--reason"]],
  ["belfry schedule pause --re", ["--reason"], ["nightly", "--until"]],
  ["belfry s list --status ", ["active", "failing"], ["nightly"]],
  ["belfry run list --schedule w", ["weekly"], ["nightly"]],
  ["belfry completion ", ["bash", "zsh", "fish"], []],
  ["belfry migrate st", ["status"], ["plan"]],
]

describe.each(SHELLS)("completion in %s", (shell) => {
  let program: string
  beforeAll(async () => {
    program = await shellProgram(shell)
  })

  test.each(CASES)("%j", async (line, has, hasNot) => {
    const words = await COMPLETED_BY[shell](program, line)

    for (const word of has) assert.ok(words.includes(word), `${word} is missing: ${words}`)
    for (const word of hasNot) assert.ok(!words.includes(word), `${word} is there: ${words}`)
  })
})

test("in bash a run's id is completed past the @ and : at which bash breaks words", async () => {
  const program = await shellProgram("bash")

  assert.deepEqual(await inBash(program, "belfry run get nigh"), [RUN])
  assert.deepEqual(await inBash(program, "belfry run get nightly@2026-03-27T01:3"), ["30:00Z"])
})

const COMPLETED_BY: Readonly<Record<Shell, (program: string, line: string) => Promise<readonly string[]>>> = {
  bash: inBash,
  zsh: inZsh,
  fish: inFish,
}

async function inBash(program: string, line: string): Promise<readonly string[]> {
  const { env, script } = await scripted("bash")
  const code = `source "$1"; COMP_LINE="$2"; COMP_POINT=\${#COMP_LINE}; _belfry; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await run(program, ["--norc", "-c", code, "bash", script, line], { env })
  return stdout.split("\n").filter((word) => word !== "")
}

async function inFish(program: string, line: string): Promise<readonly string[]> {
  const { env, script } = await scripted("fish")
  const code = `source $argv[1]; complete -C "$argv[2]"`
  const { stdout } = await run(program, ["--no-config", "-c", code, script, line], { env })
  // Each word with its description, after a tab.
  return stdout.split("\n").flatMap((text) => (text === "" ? [] : [text.split("\t")[0]!]))
}

async function inZsh(program: string, line: string): Promise<readonly string[]> {
  const { env, script } = await scripted("zsh")
  const typed = line.split(" ")
  // The completion system needs a terminal. The script uses these three functions of it, and no others.
  const code = `
    compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- "$@"; }
    source "$1"; shift; words=("$@"); CURRENT=$#words; _belfry`
  const { stdout } = await run(program, ["-f", "-c", code, "zsh", script, ...typed], { env })
  return stdout.split("\n").filter((word) => word.startsWith(typed.at(-1)!))
}

/** The script of a shell, and on the PATH a program `belfry` that answers what the script asks. */
async function scripted(shell: Shell): Promise<{ env: NodeJS.ProcessEnv; script: string }> {
  const { folder, run: belfry } = terminal()
  const script = `${folder}/completion.${shell}`
  writeFileSync(script, (await belfry("completion", shell)).out)
  const answers = `#!/bin/sh\ncase "$1" in run) echo ${RUN};; schedule) echo nightly; echo weekly;; esac\n`
  writeFileSync(`${folder}/belfry`, answers)
  chmodSync(`${folder}/belfry`, 0o755)
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}`, HOME: folder }
  return { env, script }
}
