/** Faults that the simulator must find: each takes one mend of `src` back, or breaks one promise, in a copy of the repository. */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

interface Edit {
  readonly file: string
  /** Must occur exactly once. */
  readonly text: string
  readonly by: string
}

interface PlantedFault {
  readonly name: string
  readonly edits: ReadonlyArray<Edit>
  /** Only simulations of jobs must find it. */
  readonly ofJobs?: true
}

const run = "src/internal/redelivery/run.ts"
const send = "src/internal/redelivery/send.ts"
const retryPolicy = "src/internal/call/retryPolicy.ts"
const lock = "src/internal/redelivery/lock.ts"
const database = "test/simulation/jobs/database.ts"
const authorized = "src/internal/call/authorized.ts"

const faults: ReadonlyArray<PlantedFault> = [
  {
    name: "a run does not check its lock before it sends",
    edits: [
      {
        file: send,
        text: "      yield* checkLock // a run that lost the lock",
        by: "      // a run that lost the lock"
      },
      { file: send, text: "isWritten = true\n      yield* checkLock\n", by: "isWritten = true\n" }
    ]
  },
  {
    name: "long waits are not logged",
    edits: [{
      file: "src/internal/runtime/warnings.ts",
      text: "millis >= 5000 && millis < Infinity",
      by: "millis > Infinity"
    }]
  },
  {
    name: "a redirected 429 is retried",
    edits: [{ file: retryPolicy, text: "!redirected && status === 429", by: "status === 429" }]
  },
  {
    name: "a redirected 401 is replayed",
    edits: [{
      file: authorized,
      text: "response.status !== 401 || response.redirected ||",
      by: "response.status !== 401 ||"
    }]
  },
  {
    name: "a token that was read before the wait for a permit is sent after it",
    edits: [{ file: authorized, text: "waited < longWait", by: "waited < Infinity" }]
  },
  {
    name: "a call gives way to no older one that waits for several limits",
    edits: [{
      file: "src/internal/limiter/waitingCalls.ts",
      text: "if (wait === Infinity ||",
      by: "if (wait <= Infinity ||"
    }]
  },
  {
    name: "one key that fails stops the requests for all others",
    edits: [{
      file: "src/SharedStore.ts",
      text: "(failing.get(key)?.pausedUntil ?? -Infinity)",
      by: "Math.max(...Array.from(failing.values(), ({ pausedUntil }) => pausedUntil))"
    }]
  },
  {
    name: "closing a client does not end the waits of its calls",
    edits: [
      { file: "src/internal/call/wait.ts", text: "() => interruptInBackground(waiting)", by: "() => {}" },
      { file: "src/internal/limiter/queue.ts", text: "() => resume(Effect.interrupt)", by: "() => {}" }
    ]
  },
  {
    name: "headers are believed however long they let calls wait",
    edits: [{
      file: "src/internal/limiter/estimator/estimator.ts",
      text: "Math.max(this.lastSentAt + maxPause - now, this.pausedFor(now))",
      by: "Infinity"
    }]
  },
  {
    name: "no pause is too long",
    edits: [{
      file: "src/internal/limiter/bucketReading.ts",
      text: "pause: pause && Math.min(pause, maxPause)",
      by: "pause"
    }]
  },
  {
    name: "a call that was not sent keeps its place",
    edits: [{
      file: "src/internal/limiter/queue.ts",
      text: "else giveBack(state, grant)",
      by: "else if (!notes.hasBegun) giveBack(state, grant)"
    }]
  },
  {
    name: "every failure of the transport counts as not sent",
    edits: [{
      file: "src/internal/http/platformErrors.ts",
      text: "outcome: isBeforeSending(error, chain) ? \"not-sent\" : \"unknown\"",
      by: "outcome: isBeforeSending(error, chain) ? \"not-sent\" : \"not-sent\""
    }]
  },
  {
    name: "calls that are not idempotent are retried after a time-out",
    edits: [{
      file: retryPolicy,
      text: "(outcome === \"not-done\" || endpoint.idempotent)",
      by: "(outcome === \"not-done\" || endpoint.idempotent || (\"code\" in error && error.code === \"TIMEOUT\"))"
    }]
  },
  {
    name: "a run does not wait until the journal has its entry",
    edits: [{
      file: send,
      text: "yield* Journal.writeEntry(store, { id, run: runId, outcome: \"sending\" })",
      by: "yield* Effect.forkDaemon(Journal.writeEntry(store, { id, run: runId, outcome: \"sending\" }))"
    }]
  },
  {
    name: "a run looks for an id in progress and adds it in two operations",
    edits: [
      {
        file: run,
        text: "        inProgress.set(id, result)\n        return Effect.onExit(",
        by: "        return Effect.zipRight(Effect.sync(() => void inProgress.set(id, result)), Effect.onExit("
      },
      {
        file: run,
        text: "return Deferred.done(result, exit)\n        })",
        by: "return Deferred.done(result, exit)\n        }))"
      }
    ]
  },
  {
    name: "a job's journal overwrites what another run has written, and nothing checks the lock",
    ofJobs: true,
    edits: [
      { file: database, text: "(hasPlainJournals ||", by: "(!hasPlainJournals ||" },
      { file: lock, text: "Option.contains(own)", by: "() => true" }
    ]
  },
  {
    name: "a job takes an entry that another run has changed for its own",
    ofJobs: true,
    edits: [
      {
        file: "src/cluster/journal.ts",
        text: "return isDone ? Effect.void : refused(\"set\", key, response)",
        by: "return Effect.void"
      },
      { file: lock, text: "Option.contains(own)", by: "() => true" }
    ]
  },
  {
    name: "a job sends an event again that was being sent",
    ofJobs: true,
    edits: [{
      file: run,
      text: "? Outcome.interrupted",
      by: "? { outcome: \"failed\" as const, error: undefined }"
    }]
  },
  {
    name: "a job that was cancelled before its list was complete does not begin anew",
    ofJobs: true,
    edits: [{
      file: "src/jobs/service.ts",
      text: "hasEnded(created.job) && !created.job.isLoaded",
      by: "hasEnded(created.job) && created.job.kind === \"export\""
    }]
  },
  {
    name: "a job is resumed though its list is not complete",
    ofJobs: true,
    edits: [{ file: "src/jobs/service.ts", text: "      if (!job.isLoaded) return false\n", by: "" }]
  },
  {
    name: "a job starts before its list is complete",
    ofJobs: true,
    edits: [{
      file: "src/jobs/service.ts",
      text: "      Stream.takeWhile((isLoading) => isLoading),\n",
      by: "      Stream.take(0),\n"
    }]
  }
]

/** The seeds within which each fault must be found. */
const mostSeeds = 1000

/** Copies what a simulation needs, with the work tree's own changes. */
const copy = (): string => {
  const root = process.cwd()
  const folder = mkdtempSync(join(tmpdir(), "planted-"))
  for (
    const name of ["src", "test/simulation", "test/simulation.ts", "test/support", "package.json", "tsconfig.json"]
  ) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  symlinkSync(realpathSync(join(root, "node_modules")), join(folder, "node_modules"))
  return folder
}

const plant = (folder: string, { file, text, by }: Edit): void => {
  const path = join(folder, file)
  writeFileSync(path, readFileSync(path, "utf8").replace(text, () => by))
}

/** The edits whose text the work tree does not have exactly once. */
export const unplantable = (): ReadonlyArray<string> =>
  faults.flatMap(({ edits, name }) =>
    edits.flatMap(({ file, text }) => {
      const count = readFileSync(file, "utf8").split(text).length - 1
      return count === 1 ? [] : [`${name}: ${file} has it ${count} times: ${text}`]
    })
  )

/** Gives the seed that finds a fault, and what it breaks. */
const find = ({ edits, name, ofJobs }: PlantedFault): string | undefined => {
  const kinds = ofJobs ? ["--jobs"] : ["--alone", "--fleet"]
  const folder = copy()
  for (const edit of edits) plant(folder, edit)
  const { error, stderr, stdout } = spawnSync(
    process.execPath,
    [
      "--import",
      "tsx",
      "test/support/bundled.ts",
      "test/simulation.ts",
      "--first",
      "--seeds",
      String(mostSeeds),
      ...kinds
    ],
    { cwd: folder, encoding: "utf8" }
  )
  rmSync(folder, { recursive: true })
  if (error !== undefined || !/^\{"seeds"/m.test(stdout)) throw new Error(`${name}: ${String(error)} ${stderr}`)
  return /^seed .*/m.exec(stdout)?.[0]
}

/** Plants each fault whose name has this text, and searches it. Returns the number of those that were not found. */
export const findAll = (text: string): number => {
  const [impossible] = unplantable()
  if (impossible !== undefined) throw new Error(impossible)
  let missed = 0
  const chosen = faults.filter(({ name }) => name.includes(text))
  for (const fault of chosen) {
    const began = performance.now()
    const found = find(fault)
    if (found === undefined) missed++
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    console.log(`${fault.name} (${seconds} s): ${found ?? `NOT FOUND in ${mostSeeds} seeds`}`)
  }
  console.log(JSON.stringify({ planted: chosen.length, missed }))
  return missed
}
