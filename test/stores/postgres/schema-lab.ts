import { type PostgresStore, postgres } from "belfry/postgres"
import { LAWS, type Lab, type LawCase } from "belfry/store"
import { describe, test } from "vitest"

let schemas = 0

/** Proves laws in one database, each case in a schema of its own: so several can be proved at a time. */
export function proveLaws(of: { numbers?: readonly number[]; where: string; url: () => string }): void {
  for (const { number, name, cases } of LAWS) {
    if (of.numbers?.includes(number) === false) continue
    describe.concurrent(`Law ${number}, ${name}, ${of.where}`, () => {
      for (const each of cases) test(each.title, () => prove(each, of.url()))
    })
  }
}

async function prove({ prove }: LawCase, url: string): Promise<void> {
  const schema = `belfry_${++schemas}`
  const opened: PostgresStore[] = []
  const open = async () => {
    const store = postgres({ url, schema, connections: 4 })
    await store.open()
    opened.push(store)
    return store
  }
  const lab: Lab = {
    openStore: open,
    openPeer: open,
    pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  }
  try {
    await prove(lab)
  } finally {
    await Promise.all(opened.map((store) => store.close()))
  }
}
