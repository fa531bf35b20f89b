import { createScheduler, defineTask, memory } from "belfry"

const greet = defineTask({
  name: "greet",
  run: ({ run }) => console.log(`${run.scheduleId} at ${run.scheduledFor?.toISOString()}`),
})

const scheduler = createScheduler({
  store: memory(), // or postgres(…) of belfry/postgres, redis(…) of belfry/redis, sqlite(…) of belfry/sqlite
  owner: "my-app",
  tasks: [greet],
  schedules: [
    greet.schedule("every-second", { cron: "* * * * * *" }),
    greet.schedule("weekday-mornings", { cron: "0 8 * * 1-5", timezone: "Europe/Paris" }),
  ],
})

await scheduler.start()

const [next] = await scheduler.schedules.preview("weekday-mornings", 1)
console.log(`weekday-mornings comes next at ${next?.dueAt.toISOString()}`)

setTimeout(() => scheduler.stop(), 2_500)
