import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, test } from "vitest"
import { understand } from "../../src/cli/crontab/command-line.ts"
import { convertJobs } from "../../src/cli/crontab/converted-job.ts"
import { looksLikeSystem, parseCrontab } from "../../src/cli/crontab/crontab.ts"
import { commandTask } from "../../src/tasks.ts"
import { terminal } from "./support.ts"

const TEXT = readFileSync(new URL("./crontab.txt", import.meta.url), "utf8")
const NOW = Date.parse("2026-01-01T00:00:00Z")
const { jobs, unread } = parseCrontab(TEXT, { hasUsers: false })
const converted = convertJobs(jobs, { timezone: "UTC", prefix: "", now: NOW })
const byKey = (key: string) => converted.find(({ entry }) => entry?.id === key)!

describe("a crontab", () => {
  test("every job is read, and what isn't one is told", () => {
    assert.equal(jobs.length, 9)
    assert.deepEqual(
      unread.map(({ line, text }) => [line, text]),
      [[18, "this is not a job"]],
    )
  })

  test("keys come from the program, and are never taken twice", () => {
    assert.deepEqual(
      converted.map(({ entry }) => entry?.id ?? null),
      ["backup-db", "sync-crm", "report-daily", null, "certbot", "vacuum", "echo", "backup-db-2", null],
    )
  })

  test("flock is overlap: skip, timeout a time-out, the log goes to the run, the comment is the description", () => {
    const { entry, command, timezone, notes } = byKey("backup-db")

    assert.equal(timezone, "Europe/Berlin")
    assert.equal(entry!.overlap, "skip")
    assert.equal(entry!.timeout, "10m")
    assert.equal(entry!.description, "Nightly dump of the shop database")
    assert.deepEqual(command!.argv, [
      "/usr/bin/env",
      "PATH=/usr/local/bin:/usr/bin:/bin",
      "/bin/bash",
      "-c",
      "/opt/backup-db.sh",
    ])
    assert.match(
      notes.join("; "),
      /overlap: skip \(flock\); time-out 10m; output goes to the run's log; MAILTO ops@/,
    )
  })

  test("what cron does with overlap and with missed jobs stays: both run, none is made up for", () => {
    assert.equal(byKey("sync-crm").entry!.overlap, "allow")
    assert.equal(byKey("sync-crm").entry!.catchUp, "none")
  })

  test("an uneven step is told", () => {
    assert.match(byKey("sync-crm").notes.join(), /L01/)
  })

  test("cd is the folder, sleep $RANDOM the jitter, a health check is left out", () => {
    assert.equal(byKey("report-daily").command!.cwd, "/srv/shop")
    assert.equal(byKey("certbot").entry!.jitter, 300_000)
    assert.equal(byKey("certbot").command!.argv.at(-1), "/usr/bin/certbot renew -q")
    assert.equal(byKey("vacuum").command!.argv.at(-1), "/opt/vacuum.py")
    assert.match(byKey("vacuum").notes.join(), /health check/)
  })

  test("% begins the input, \\% is a percent sign, and the shell's braces stay the shell's", () => {
    const script = byKey("echo").command!.argv.at(-1)!

    assert.match(
      script,
      /^printf '%s' 'Dear ops,\nall is well' \| echo "first monday: \$\{USER\}" \| mail -s "hi 100%" /,
    )
    assert.deepEqual(byKey("echo").command!.args, { USER: { oneOf: ["{USER}"], default: "{USER}" } })
  })

  test("@reboot and what can't be read are skipped with the reason", () => {
    const skipped = converted.filter(({ entry }) => entry === null)

    assert.match(skipped[0]!.notes[0]!, /no equivalent/)
    assert.match(skipped[1]!.notes[0]!, /Hour "25" is out of range/)
  })

  test("every command made is one that the command task takes", () => {
    const commands = Object.fromEntries(
      converted.filter(({ entry }) => entry !== null).map(({ entry, command }) => [entry!.id, command!]),
    )

    assert.equal(commandTask({ commands }).name, "command")
  })

  test("the user's column of system crontabs is found", () => {
    const system =
      "17 * * * * root cd / && run-parts --report /etc/cron.hourly\n5 0 * * * www-data /opt/x.sh\n"
    const [first, second] = parseCrontab(system, { hasUsers: true }).jobs

    assert.equal(looksLikeSystem(system), true)
    assert.equal(looksLikeSystem(TEXT), false)
    assert.deepEqual([first!.user, second!.user, second!.command], ["root", "www-data", "/opt/x.sh"])
  })

  test.each([
    ["/usr/bin/flock -w 10 /run/x.lock -c 'a && b'", { command: "a && b", isExclusive: true }],
    ["cd ~/x && ./run.sh", { command: "cd ~/x && ./run.sh", cwd: null }],
    ["timeout -k 5 90 nice -n 19 /opt/a.sh", { timeout: "90s", command: "nice -n 19 /opt/a.sh", name: "a" }],
    ["/opt/a.sh 2>&1 | logger -t a", { command: "/opt/a.sh 2>&1" }],
    ["/opt/a.sh &> /dev/null", { command: "/opt/a.sh" }],
  ])("%s", (line, expected) => {
    const understood = understand(line) as unknown as Record<string, unknown>

    for (const [name, value] of Object.entries(expected)) assert.deepEqual(understood[name], value, name)
  })
})

describe("belfry import crontab", () => {
  test("shows, writes a configuration that starts, and makes the schedules; the crontab stays", async () => {
    const shell = terminal()
    const path = shell.write("cron.txt", TEXT)

    const shown = await shell.run("import", "crontab", "cron.txt")
    const written = await shell.run("import", "crontab", "cron.txt", "--out", "belfry.config.json", "-q")
    const applied = await shell.run("import", "crontab", "cron.txt", "--apply", "--paused")
    const again = await shell.run("import", "crontab", "cron.txt", "--out", "belfry.config.json")

    assert.equal(shown.code, 0)
    assert.match(shown.err, /7 ready · 3 skipped/)
    assert.match(shown.err, /Nothing was changed/)
    assert.deepEqual([written.code, written.err], [0, ""])
    assert.equal(applied.code, 0, applied.err)
    assert.equal(again.code, 5)
    const schedules = await shell.json<{ paused: { by: string } }[]>("schedule", "list")
    assert.equal(schedules.length, 7)
    assert.ok(schedules.every(({ paused }) => paused.by === "ada@host"))
    assert.equal(readFileSync(path, "utf8"), TEXT)
  })

  test("--comment-out prints the crontab with the imported lines switched off", async () => {
    const shell = terminal()
    shell.input = "# a\n0 3 * * * /opt/a.sh\n@reboot /opt/b.sh\n"

    const { out } = await shell.run("import", "crontab", "-", "--comment-out")

    assert.equal(out, "# a\n# belfry: 0 3 * * * /opt/a.sh\n@reboot /opt/b.sh\n")
  })
})
