import type { Store, TransactionalStore } from "../../store/store.ts"
import { OpenOnce } from "../kit/open-once.ts"
import type { Timers } from "../kit/timers.ts"
import { Connection, type ConnectionOptions } from "./connection.ts"
import { type Driver, loadDriver } from "./driver.ts"
import { Hints } from "./hints.ts"
import { operations } from "./operations.ts"
import { type SqliteTransaction, Transaction } from "./transaction.ts"

export type SqliteStore = TransactionalStore<SqliteTransaction>

/**
 * A store in one file, for the processes of one host. SQLite has one write lock for the whole file, and each write is one
 * transaction that takes this lock first. Rows that it reads can't change before it commits, which alone keeps most of the laws.
 */
export function createSqliteStore(
  options: ConnectionOptions,
  timers: Timers,
  load: () => Promise<Driver> = loadDriver,
): SqliteStore {
  const opening = new OpenOnce(options.path, async () => Connection.open(await load(), options, timers))
  const hints = new Hints(timers, () => opening.opened)
  return {
    async open() {
      await opening.reach()
    },
    async close() {
      hints.close()
      const connection = await opening.close()
      connection?.close()
    },
    async listen(onHint) {
      await opening.reach()
      const stop = hints.listen(onHint)
      return async () => stop()
    },
    ...operations({
      random: () => timers.random(),
      async read(work) {
        const connection = await opening.reach()
        return connection.read((now) => work(connection, now))
      },
      async write(work) {
        const connection = await opening.reach()
        return connection.write((now) => work(connection, now))
      },
      async writeUnsynced(work) {
        const connection = await opening.reach()
        return connection.writeUnsynced((now) => work(connection, now))
      },
      sendHints: (sent) => hints.send(sent),
    }),
    within: (transaction) =>
      within(new Transaction(transaction, options.path), () => opening.reach(), timers),
  }
}

/** Sends no hints itself: listeners get them after the commit, when they notice that the file has changed. */
function within(transaction: Transaction, opened: () => Promise<unknown>, { random }: Timers): Store {
  const work: Transaction["work"] = async (each) => {
    await opened()
    return transaction.work(each)
  }
  return {
    open: async () => undefined,
    close: async () => undefined,
    listen: async () => async () => undefined,
    ...operations({ random, read: work, write: work, writeUnsynced: work, sendHints: () => undefined }),
  }
}
