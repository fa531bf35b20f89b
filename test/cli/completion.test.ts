import assert from "node:assert/strict"
import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, writeFileSync } from "node:fs"
import { describe, test } from "vitest"
import { terminal } from "./support.ts"

const RUN = "nightly@2026-03-27T01:30:00Z"

/** The script of a shell, and beside it a program that answers what the script asks. */
async function scripted(shell: "bash" | "zsh" | "fish"): Promise<{ folder: string; script: string }> {
  const { folder, run } = terminal()
  const script = `${folder}/completion.${shell}`
  writeFileSync(script, (await run("completion", shell)).out)
  const answers = `#!/bin/sh\ncase "$1" in run) echo ${RUN};; schedule) echo nightly; echo weekly;; esac\n`
  writeFileSync(`${folder}/belfry`, answers)
  chmodSync(`${folder}/belfry`, 0o755)
  return { folder, script }
}

async function completedBy(shell: "bash" | "fish", line: string): Promise<readonly string[]> {
  const { folder, script } = await scripted(shell)
  const program = {
    bash: `source "$1"; COMP_LINE="$2"; COMP_POINT=\${#COMP_LINE}; _belfry; printf '%s\\n' "\${COMPREPLY[@]}"`,
    fish: `source $argv[1]; complete -C "$argv[2]"`,
  }[shell]
  const given = shell === "bash" ? ["bash", script, line] : [script, line]
  const flags = shell === "bash" ? ["--norc", "-c"] : ["--no-config", "-c"]
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}`, HOME: folder }
  const out = execFileSync(shell, [...flags, program, ...given], { encoding: "utf8", env })
  return out.split("\n").flatMap((text) => (text === "" ? [] : [text.split("\t")[0]!]))
}

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

describe("completion in bash", () => {
  test.each(CASES)("%j", async (line, has, hasNot) => {
    const words = await completedBy("bash", line)

    for (const word of has) assert.ok(words.includes(word), `${word} is missing: ${words}`)
    for (const word of hasNot) assert.ok(!words.includes(word), `${word} is there: ${words}`)
  })

  test("a run's id is completed past the @ and : at which bash breaks words", async () => {
    assert.deepEqual(await completedBy("bash", "belfry run get nigh"), [RUN])
    assert.deepEqual(await completedBy("bash", "belfry run get nightly@2026-03-27T01:3"), ["30:00Z"])
  })
})

const hasFish = spawnSync("fish", ["--version"]).status === 0
const hasZsh = spawnSync("zsh", ["--version"]).status === 0

describe.skipIf(!hasFish)("completion in fish, where there is one", () => {
  test.each(CASES)("%j", async (line, has, hasNot) => {
    const words = await completedBy("fish", line)

    for (const word of has) assert.ok(words.includes(word), `${word} is missing: ${words}`)
    for (const word of hasNot) assert.ok(!words.includes(word), `${word} is there: ${words}`)
  })
})

describe.skipIf(!hasZsh)("completion in zsh, where there is one", () => {
  test.each(CASES)("%j", async (line, has, hasNot) => {
    const { folder, script } = await scripted("zsh")
    const typed = line.split(" ")
    // The completion system needs a terminal; its two doors are all that the script uses of it.
    const program = `
      compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- "$@"; }
      source "$1"; shift; words=("$@"); CURRENT=$#words; _belfry`
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` }
    const out = execFileSync("zsh", ["-f", "-c", program, "zsh", script, ...typed], { encoding: "utf8", env })

    const words = out.split("\n").filter((word) => word.startsWith(typed.at(-1)!))
    for (const word of has) assert.ok(words.includes(word), `${word} is missing: ${words}`)
    for (const word of hasNot) assert.ok(!words.includes(word), `${word} is there: ${words}`)
  })
})
