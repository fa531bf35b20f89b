import assert from "node:assert/strict"
import { chmodSync, existsSync, writeFileSync } from "node:fs"
import { beforeAll, describe, test } from "vitest"
import { ID_COMMANDS } from "../../src/cli/completion/completion-words.ts"
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

describe.each(SHELLS)("stored ids in %s", (shell) => {
  test("are never evaluated, and ids with characters special to a shell are not offered", async () => {
    const program = await shellProgram(shell)
    const { folder } = terminal()
    const harm = `${folder}/harm`
    const hostile = [
      `$(touch ${harm})`,
      `\`touch ${harm}\``,
      `a$(touch ${harm})`,
      `(touch ${harm})`,
      `;touch ${harm}`,
      "x'y",
      'x"y',
      "*",
      "-rf",
      "~root",
      "$HOME",
    ]

    const words = await COMPLETED_BY[shell](program, "belfry run get ", [...hostile, RUN])

    assert.ok(!existsSync(harm), "a stored id was evaluated")
    assert.deepEqual(words, [RUN])
  })
})

test("the Tab key doesn't run the configuration of the folder", async () => {
  const shell = terminal()
  const harm = `${shell.folder}/harm`
  shell.write("belfry.config.mjs", `import { writeFileSync } from "node:fs"\nwriteFileSync("${harm}", "")\n`)

  for (const command of Object.values(ID_COMMANDS)) await shell.run(...command.split(" ").slice(1))

  assert.ok(!existsSync(harm))
})

test("in bash a run id is completed after @ and :, where bash breaks words", async () => {
  const program = await shellProgram("bash")

  assert.deepEqual(await inBash(program, "belfry run get nigh"), [RUN])
  assert.deepEqual(await inBash(program, "belfry run get nightly@2026-03-27T01:3"), ["30:00Z"])
})

type Completion = (program: string, line: string, runs?: string[]) => Promise<readonly string[]>

const COMPLETED_BY: Readonly<Record<Shell, Completion>> = {
  bash: inBash,
  zsh: inZsh,
  fish: inFish,
}

async function inBash(program: string, line: string, runs = [RUN]): Promise<readonly string[]> {
  const { env, script } = await scripted("bash", runs)
  const code = `source "$1"; COMP_LINE="$2"; COMP_POINT=\${#COMP_LINE}; _belfry; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await run(program, ["--norc", "-c", code, "bash", script, line], { env })
  return stdout.split("\n").filter((word) => word !== "")
}

async function inFish(program: string, line: string, runs = [RUN]): Promise<readonly string[]> {
  const { env, script } = await scripted("fish", runs)
  const code = `source $argv[1]; complete -C "$argv[2]"`
  const { stdout } = await run(program, ["--no-config", "-c", code, script, line], { env })
  // Each line has a word, a tab and the description.
  return stdout.split("\n").flatMap((text) => (text === "" ? [] : [text.split("\t")[0]!]))
}

async function inZsh(program: string, line: string, runs = [RUN]): Promise<readonly string[]> {
  const { env, script } = await scripted("zsh", runs)
  const typed = line.split(" ")
  // The completion system of zsh needs a terminal. The script uses only these three functions of it.
  const code = `
    compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- "$@"; }
    source "$1"; shift; words=("$@"); CURRENT=$#words; _belfry`
  const { stdout } = await run(program, ["-f", "-c", code, "zsh", script, ...typed], { env })
  return stdout.split("\n").filter((word) => word !== "" && word.startsWith(typed.at(-1)!))
}

/** Writes the completion script of a shell, and puts a program `belfry` on the PATH that prints ids for it. */
async function scripted(
  shell: Shell,
  runs: readonly string[],
): Promise<{ env: NodeJS.ProcessEnv; script: string }> {
  const { folder, run: belfry } = terminal()
  const script = `${folder}/completion.${shell}`
  writeFileSync(script, (await belfry("completion", shell)).out)
  writeFileSync(`${folder}/runs`, runs.map((run) => `${run}\n`).join(""))
  const answers = `#!/bin/sh\ncase "$1" in run) cat ${folder}/runs;; schedule) echo nightly; echo weekly;; esac\n`
  writeFileSync(`${folder}/belfry`, answers)
  chmodSync(`${folder}/belfry`, 0o755)
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}`, HOME: folder }
  return { env, script }
}
