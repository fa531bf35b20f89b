import { freshPrefix } from "../../support/redis-prefix.ts"
import { proveScheduleHints } from "../schedule-hints.ts"
import { anOpenStore, heardBy, until } from "./scratch.ts"

proveScheduleHints(async () => {
  const place = freshPrefix()
  const heard = await heardBy(await anOpenStore(place))
  return {
    writer: await anOpenStore(place),
    async hears() {
      await until(() => heard.length > 0, "something is heard")
      return heard.splice(0)
    },
  }
})
