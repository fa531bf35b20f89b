import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { describe, test } from "vitest"
import { parseCommand } from "../../src/cli/crontab/command-line.ts"
import { convertJobs } from "../../src/cli/crontab/converted-job.ts"
import { looksLikeSystem, parseCrontab } from "../../src/cli/crontab/crontab.ts"
import { idFor } from "../../src/cli/crontab/job-id.ts"
import { commandTask } from "../../src/tasks.ts"
import { terminal } from "./support.ts"

const TEXT = readFileSync(new URL("./crontab.txt", import.meta.url), "utf8")
const NOW = Date.parse("2026-01-01T00:00:00Z")
const { jobs, unread } = parseCrontab(TEXT, { hasUsers: false })
const homeOf = (user: string | null) => (user === null ? "/home/ada" : user === "root" ? "/root" : null)
const ABOUT = { timezone: "UTC", prefix: "", now: NOW, homeOf }
const converted = convertJobs(jobs, ABOUT)
const convertedFrom = (text: string, hasUsers = false) =>
  convertJobs(parseCrontab(text, { hasUsers }).jobs, ABOUT)
const byId = (id: string) => converted.find(({ entry }) => entry?.id === id)!

describe("a crontab", () => {
  test("every job is read, and other lines are reported", () => {
    assert.equal(jobs.length, 9)
    assert.deepEqual(
      unread.map(({ line, text }) => [line, text]),
      [[18, "this is not a job"]],
    )
  })

  test("ids come from the program name, and are unique", () => {
    assert.deepEqual(
      converted.map(({ entry }) => entry?.id ?? null),
      ["backup-db", "sync-crm", "report-daily", null, "certbot", "vacuum", "echo", "backup-db-2", null],
    )
  })

  test("flock becomes overlap skip, timeout becomes the timeout, the log redirection is removed, and the comment becomes the description", () => {
    const { entry, command, timezone, notes } = byId("backup-db")

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
      /output goes to the run's log; overlap: skip \(flock\); timeout 10m; .*MAILTO ops@/,
    )
  })

  test("imported jobs behave as under cron: they may overlap, are not caught up and are not retried", () => {
    const { overlap, catchUp, retry } = byId("sync-crm").entry!

    assert.deepEqual(
      { overlap, catchUp, retry },
      { overlap: "allow", catchUp: "none", retry: { attempts: 1 } },
    )
  })

  test("a command starts in the home folder of its user, in HOME, or in the folder of its cd", () => {
    const own = convertedFrom(
      "0 3 * * * ./a.sh\nHOME=/srv/b\n0 3 * * * ./b.sh\n0 3 * * * cd /srv/c && ./c.sh",
    )
    const system = convertedFrom("0 3 * * * root ./a.sh\n0 3 * * * eve ./b.sh", true)

    assert.deepEqual(
      [...own, ...system].map(({ command }) => command!.cwd ?? null),
      ["/home/ada", "/srv/b", "/srv/c", "/root", null],
    )
    assert.match(system[1]!.notes.join(), /the home folder of eve is unknown; set cwd/)
  })

  test("CRON_TZ changes when jobs run; TZ is only a variable of the command", () => {
    const [job, moved] = convertedFrom("TZ=Asia/Tokyo\n0 3 * * * date\nCRON_TZ=Europe/Oslo\n0 3 * * * date")

    assert.deepEqual([job!.timezone, moved!.timezone], ["UTC", "Europe/Oslo"])
    assert.ok(job!.command!.argv.includes("TZ=Asia/Tokyo"))
    assert.match(job!.notes.join(), /TZ Asia\/Tokyo is passed to the command and does not change the times/)
    assert.match(moved!.notes.join(), /times are in Europe\/Oslo \(CRON_TZ, as in cronie\)/)
  })

  test("an uneven step is noted", () => {
    assert.match(byId("sync-crm").notes.join(), /L01/)
  })

  test("cd becomes the folder, sleep $RANDOM becomes the jitter, and a health check stays in the command", () => {
    assert.equal(byId("report-daily").command!.cwd, "/srv/shop")
    assert.equal(byId("certbot").entry!.jitter, 300_000)
    assert.equal(byId("certbot").command!.argv.at(-1), "/usr/bin/certbot renew -q")
    assert.equal(
      byId("vacuum").command!.argv.at(-1),
      "/opt/vacuum.py && curl -fsS -m 10 https://hc-ping.com/abc123",
    )
  })

  test("% begins the input, \\% is a percent sign, and braces are left to the shell", () => {
    const script = byId("echo").command!.argv.at(-1)!

    assert.match(
      script,
      /^printf '%s' 'Dear ops,\nall is well' \| echo "first monday: \$\{USER\}" \| mail -s "hi 100%" /,
    )
    assert.deepEqual(byId("echo").command!.args, { USER: { oneOf: ["{USER}"], default: "{USER}" } })
  })

  test("@reboot and invalid expressions are skipped with the reason", () => {
    const skipped = converted.filter(({ entry }) => entry === null)

    assert.match(skipped[0]!.notes[0]!, /no equivalent/)
    assert.match(skipped[1]!.notes[0]!, /Hour "25" is out of range/)
  })

  test("the command task accepts every imported command", () => {
    const commands = Object.fromEntries(
      converted.filter(({ entry }) => entry !== null).map(({ entry, command }) => [entry!.id, command!]),
    )

    assert.equal(commandTask({ commands }).name, "command")
  })

  test("the user column of system crontabs is detected", () => {
    const system =
      "17 * * * * root cd / && run-parts --report /etc/cron.hourly\n5 0 * * * www-data /opt/x.sh\n"
    const [first, second] = parseCrontab(system, { hasUsers: true }).jobs

    assert.equal(looksLikeSystem(system), true)
    assert.equal(looksLikeSystem(TEXT), false)
    assert.deepEqual([first!.user, second!.user, second!.command], ["root", "www-data", "/opt/x.sh"])
  })

  test.each([
    ["/usr/bin/flock -w 10 /run/x.lock -c 'a && b'", { command: "a && b", isExclusive: true }],
    ["cd ~/x && ./sync.sh", { command: "cd ~/x && ./sync.sh", cwd: null, name: "sync" }],
    ["timeout -k 5 90 nice -n 19 /opt/a.sh", { timeout: "90s", command: "nice -n 19 /opt/a.sh", name: "a" }],
    ["/opt/a.sh 2>&1 | logger -t a", { command: "/opt/a.sh" }],
    ["pg_dump shop > /backup/shop.sql", { command: "pg_dump shop > /backup/shop.sql", notes: [] }],
    ["flock -n /l -c 'a; b' && curl 'https://c.test'", { isExclusive: false, notes: [] }],
    ["flock -n /l a && b", { command: "flock -n /l a && b", isExclusive: false, name: "a" }],
    ["flock -w 5 /l -c 'sync-crm.sh; b' && c", { name: "sync-crm" }],
    ["sudo -u www-data /opt/b.sh", { name: "b" }],
    ["timeout 60 a | b", { command: "timeout 60 a | b", timeout: null }],
    ["timeout 0 a", { command: "timeout 0 a", timeout: null }],
    ["sleep `expr $RANDOM % 90` && a", { command: "a", jitterMs: 90_000 }],
    ["echo 'a && b; c' > /dev/null", { command: "echo 'a && b; c'" }],
    ["> /dev/null", { command: "> /dev/null" }],
    ["", { command: "", name: "job" }],
    ["/opt/a.sh &> /dev/null", { command: "/opt/a.sh" }],
  ])("%s", (line, expected) => {
    const parsed = parseCommand(line) as unknown as Record<string, unknown>

    for (const [name, value] of Object.entries(expected)) assert.deepEqual(parsed[name], value, name)
  })
})

describe("lines of a million characters", () => {
  // A parser with backtracking would need hours for these lines, not milliseconds.
  const many = (text: string) => text.repeat(1_000_000 / text.length)
  const blanks = many(" ")
  const shapes: readonly (readonly [title: string, command: string])[] = [
    ["blanks", `a${blanks}b`],
    ["blanks before a log", `a${blanks}> x`],
    ["options of flock", `flock ${many("-n 1 ")}`],
    ["options of timeout", `timeout ${many("-k 1 ")}`],
    ["a random sleep", `sleep \`${many("RANDOM ")}\`; a`],
    ["digits", `nice ${many("-n1")}`],
    ["operators", many("&& ")],
    ["quotes", many(`'"`)],
    ["brackets", many("$(")],
    ["backslashes", many("\\")],
    ["wrappers", `${"cd /a && ".repeat(20_000)}b`],
    ["a URL", `a && curl ${many("http://")}`],
  ]

  test.each(shapes)("%s", (_title, command) => {
    const parsed = parseCommand(command)
    const [job] = parseCrontab(`0 3 * * * ${command}`, { hasUsers: false }).jobs

    assert.ok(parsed.command.length <= command.length)
    assert.equal(job!.command, command.trim())
  })

  test("a line that is not a job, a variable and a comment", () => {
    const text = [`A = ${blanks}b${blanks}`, `#${many("* ")}`, many("a"), "0 3 * * * b"].join("\n")

    const { jobs, unread } = parseCrontab(text, { hasUsers: false })

    assert.deepEqual(
      unread.map(({ line }) => line),
      [3],
    )
    assert.deepEqual(jobs[0]!.variables, { A: "b" })
  })

  test("a hundred thousand jobs of one name", () => {
    const used = new Map<string, number>()
    let last = ""

    for (let count = 0; count < 100_000; count++) last = idFor("a", "", used)

    assert.equal(last, "a-100000")
  })
})

describe("belfry import crontab", () => {
  test("prints the jobs, writes a configuration and creates the schedules; the crontab is not changed", async () => {
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

  test("on a terminal of 80 columns no note is cut", async () => {
    const shell = terminal({ isTerminal: true, columns: 80 })
    shell.write("crontab", TEXT)

    const { out } = await shell.run("import", "crontab", "crontab")

    const plain = out.replaceAll(/\s+/g, " ")
    assert.doesNotMatch(out, /…/)
    assert.match(plain, /MAILTO ops@\S+: alert on failure instead/)
    assert.match(plain, /output goes to the run's log; overlap: skip \(flock\)/)
  })

  test("--comment-out prints the crontab with the imported lines commented out", async () => {
    const shell = terminal()
    shell.input = "# a\n0 3 * * * /opt/a.sh\n@reboot /opt/b.sh\n"

    const { out } = await shell.run("import", "crontab", "-", "--comment-out")

    assert.equal(out, "# a\n# belfry: 0 3 * * * /opt/a.sh\n@reboot /opt/b.sh\n")
  })
})
