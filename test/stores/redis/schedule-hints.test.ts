import { freshPrefix } from "../../support/redis-prefix.ts"
import { proveScheduleHints } from "../schedule-hints.ts"
import { anOpenStore, hintsReceivedBy, until } from "./scratch.ts"

proveScheduleHints(async () => {
  const place = freshPrefix()
  const received = await hintsReceivedBy(await anOpenStore(place))
  return {
    writer: await anOpenStore(place),
    async receivedHints() {
      await until(() => received.length > 0, "a hint arrives")
      return received.splice(0)
    },
  }
})
