import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "vitest"
import { terminal } from "./support.ts"

/** Arguments, exit code, message and remedy. */
const REFUSED: readonly (readonly [
  argv: readonly string[],
  code: number,
  message: RegExp,
  remedy: RegExp,
])[] = [
  [["schedul"], 2, /There is no command 'schedul'/, /Did you mean belfry schedule\? See: belfry --help/],
  [
    ["list"],
    2,
    /There is no command 'list'/,
    /Did you mean belfry schedule list, or belfry run list, or belfry task list, or belfry worker list\?/,
  ],
  [["cron", "list"], 2, /There is no command 'cron'/, /Did you mean belfry schedule list\?/],
  [["cron", "add"], 2, /There is no command 'cron'/, /Did you mean belfry schedule\?/],
  [["frobnicate"], 2, /There is no command 'frobnicate'/, /^ +See: belfry --help$/],
  [["schedule", "lst"], 2, /Unknown command 'lst'/, /Did you mean list\? See: belfry schedule --help/],
  [
    ["schedule", "list", "--jsn"],
    2,
    /Unknown option '--jsn'/,
    /Did you mean --json\? See: belfry schedule list --help/,
  ],
  [["run", "get"], 2, /Missing required argument 'ids'/, /belfry run get --help/],
  [["version", "extra"], 2, /Too many arguments[^.]*\.[^.]*\.$/m, /belfry version/],
  [["next"], 2, /No expression/, /in quotes/],
  [["next", "0 25 * * *"], 6, /Hour "25" is out of range/, /range/],
  [["next", "* * * * *", "--tz", "Mars/Olympus"], 6, /Time zone "Mars\/Olympus" is unknown/, /IANA/],
  [["next", "* * * * *", "-n", "many"], 2, /--limit is "many"/, /integer from 1/],
  [["next", "* * * * *", "--from", "soon"], 6, /--from "soon" is not a time\. /, /\+2h or -1d/],
  [
    ["schedule", "create", "a", "--task", "t", "--at", "next tuesday"],
    6,
    /--at "next tuesday" is not a time\. /,
    /^ +Write .*tomorrow 9am/,
  ],
  [["run", "list", "--since", "blah"], 6, /--since "blah" is not a time\. /, /^ +Write .*-1d/],
  [
    ["schedule", "create", "a", "--task", "t", "--every", "90000"],
    6,
    /--every "90000" is not a duration\. /,
    /^ +Write a number with its unit, such as 500ms, 90s/,
  ],
  [
    ["schedule", "create", "a", "--task", "t", "--every", "1h", "--store", "no/such/belfry.db"],
    7,
    /The folder .*no\/such doesn't exist/,
    /^ +Make it first: mkdir -p .*no\/such$/m,
  ],
  [["next", "* * * * *", "--count"], 2, /--count needs --between/, /--between/],
  [["next", "* * * * *", "-o", "xml"], 2, /--output "xml" is unknown/, /table, wide, tsv, csv, json/],
  [["explain"], 2, /Missing required argument/, /belfry explain --help/],
  [["lint"], 2, /Give an expression, or a file/, /-f FILE/],
  [["completion", "tcsh"], 2, /no completion for "tcsh"/, /bash, zsh or fish/],
  [["start", "boss"], 2, /no role "boss"/, /worker or server/],
  [["start", "--concurrency", "0"], 2, /--concurrency is "0"/, /from 1 to 10000/],
  [["schedule", "list"], 7, /There is no store at/, /belfry start/],
  [
    ["schedule", "list", "--store", "mongodb://u:secret@h/0"],
    2,
    /mongodb:\/\/u:\*\*\*@h\/0 is MongoDB/,
    /SQLite/,
  ],
  [["schedule", "list", "--store", "ftp://x"], 2, /unknown scheme "ftp:"/, /sqlite:PATH/],
  [["schedule", "list", "--store", "sqlite:"], 2, /names no file/, /--store \.\/belfry\.db/],
  [["schedule", "list", "--config", "nowhere.ts"], 3, /no configuration at .*nowhere\.ts/, /BELFRY_CONFIG/],
  [["schedule", "create", "a"], 2, /--task is missing/, /--task http/],
  [
    ["schedule", "create", "a b", "--task", "http", "--every", "5m"],
    6,
    /id is "a b"; use 1 to 200 letters/,
    /Correct the field/,
  ],
  [
    ["schedule", "create", "a", "--task", "t"],
    6,
    /exactly one of cron, every, at and in; found none/,
    /Correct the field/,
  ],
  [["schedule", "create", "a", "--task", "t", "--every", "often"], 6, /"often" is not a duration/, /90s/],
  [
    ["schedule", "create", "a", "--task", "t", "--every", "5m", "--payload", "{a"],
    6,
    /payload of --payload is not JSON/,
    /in quotes/,
  ],
  [
    ["schedule", "create", "a", "--task", "t", "--every", "5m", "--payload", "@no.json"],
    3,
    /no\.json can't be read/,
    /after @/,
  ],
  [
    ["schedule", "create", "a", "--task", "t", "--every", "5m", "--overlap", "never"],
    2,
    /--overlap "never" is unknown/,
    /skip/,
  ],
  [
    ["schedule", "create", "a", "--task", "http", "--every", "5m", "--payload", "3"],
    6,
    /Payload of task "http" is invalid: /,
    /payload/,
  ],
  [["apply"], 2, /No file was given/, /-f schedules\.yaml/],
  [["apply", "-f", "no.yaml"], 3, /no file no\.yaml/, /-f/],
  [["import", "crontab", "no.txt"], 3, /no\.txt can't be read/, /permissions/],
]

describe("bad input", () => {
  test.each(REFUSED)("%j exits %i", async (argv, code, message, remedy) => {
    const shell = terminal()

    const answer = await shell.run(...argv)

    const [first, ...more] = answer.err.trimEnd().split("\n")
    assert.equal(answer.code, code, answer.err)
    assert.match(first!, /^error: [A-Z"-]/)
    assert.match(first!, message)
    assert.match(more.join("\n"), remedy)
    assert.equal(answer.out, "")
    assert.equal(existsSync(join(shell.folder, "belfry.db")), false, "no store was created")
  })

  test.each([
    ["belfry.config.json", "{ nope", 2, /can't be read/],
    ["belfry.config.json", "[]", 2, /is not an object/],
    ["belfry.config.json", '{"concurency": 3}', 2, /unknown setting "concurency"/],
    [
      "belfry.config.json",
      '{"concurrency": "3"}',
      2,
      /"concurrency" .* wrong type: a value of type string[\s\S]*It must be a number\. See docs\/reference\/configuration\.md/,
    ],
    ["belfry.config.json", '{"retention": []}', 2, /It must be an object: \{ age, perSchedule \}/],
    ["belfry.config.mjs", "export default {", 2, /can't be read/],
    ["belfry.config.ts", "throw new Error('no database')", 2, /can't be read: no database/],
    ["belfry.config.mjs", "export const a = 1", 2, /is not an object/],
  ])("a bad %s (%s) exits %i", async (file, text, code, message) => {
    const shell = terminal()
    shell.write(file, text)

    const answer = await shell.run("start")

    assert.equal(answer.code, code, answer.err)
    assert.match(answer.err, message)
  })

  test("with --json, an error is printed as an object on standard error", async () => {
    const { err, code } = await terminal().run("schedule", "list", "--json")

    assert.equal(code, 7)
    assert.deepEqual(Object.keys(JSON.parse(err).error), ["code", "message", "remedy", "exit"])
  })

  test("an error message doesn't contain control characters of the arguments", async () => {
    const { err } = await terminal().run("next", "\u001b[2J* * * * *")

    assert.doesNotMatch(err, /\u001b/)
  })
})
