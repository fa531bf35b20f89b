import type { Store, TransactionalStore } from "../../store/store.ts"
import { OpenOnce } from "../kit/open-once.ts"
import { Connection, type ConnectionOptions, type Waiting } from "./connection.ts"
import { type Driver, loadDriver } from "./driver.ts"
import { Hints } from "./hints.ts"
import { operations } from "./operations.ts"
import { type SqliteTransaction, Transaction } from "./transaction.ts"

export type SqliteStore = TransactionalStore<SqliteTransaction>

/**
 * Everything in one file, for the processes of one host. SQLite has one write lock for the whole file, so each write is one
 * transaction that takes it first: whatever it reads stays true until it commits, and that alone keeps most of the laws.
 */
export function createSqliteStore(
  options: ConnectionOptions,
  waiting: Waiting,
  load: () => Promise<Driver> = loadDriver,
): SqliteStore {
  const opening = new OpenOnce(options.path, async () => Connection.open(await load(), options, waiting))
  const hints = new Hints(waiting, () => opening.opened)
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
      random: () => waiting.random(),
      async read(work) {
        const connection = await opening.reach()
        return connection.read((now) => work(connection, now))
      },
      async write(work) {
        const connection = await opening.reach()
        return connection.write((now) => work(connection, now))
      },
      async note(work) {
        const connection = await opening.reach()
        return connection.note((now) => work(connection, now))
      },
      told: (news) => hints.tell(news),
    }),
    within: (transaction) =>
      within(new Transaction(transaction, options.path), () => opening.reach(), waiting),
  }
}

/** Who listens hears of it when the file has changed, with the commit. */
function within(transaction: Transaction, opened: () => Promise<unknown>, { random }: Waiting): Store {
  const work: Transaction["work"] = async (each) => {
    await opened()
    return transaction.work(each)
  }
  return {
    open: async () => undefined,
    close: async () => undefined,
    listen: async () => async () => undefined,
    ...operations({ random, read: work, write: work, note: work, told: () => undefined }),
  }
}
