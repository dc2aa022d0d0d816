/**
 * The same program with telemetry cut out, as it is while nobody looks, and traced, in one process: copies that have been
 * compiled each by itself take turns, so that what else the machine does hits all of them alike.
 */
import { join } from "node:path"
import { type Job, perform, type Run } from "../calls/client.js"
import type { Variant } from "../calls/variants.js"

/** What the process is told: where the copies lie, and where the server is. */
export interface Start {
  readonly origin: string
  readonly program: string
  readonly removed: string
  readonly asItIs: string
}

const names = ["removed", "asItIs", "traced"] as const

export type Name = typeof names[number]

/** All orders that there are: who comes first, and after whom, must not matter. */
const orders = names.flatMap((first) => {
  const others = names.filter((name) => name !== first)
  return [[first, ...others], [first, ...others.toReversed()]]
})

/** Sent to the process: so many turns of the job. */
export interface Question extends Job {
  readonly turns: number
}

/** Sent by the process: microseconds of the processor's time per call, turn by turn. */
export type Answer = Readonly<Record<Name, ReadonlyArray<number>>>

export interface Ready {
  readonly pid: number
}

const { asItIs, origin, program, removed } = JSON.parse(process.argv[2] ?? "") as Start // sound: our parent has written it

const make = async (directory: string, variant: Variant): Promise<Run> => {
  const copy = await import(join(directory, `${program}.cjs`)) as {
    readonly make: (origin: string, variant: Variant) => Promise<Run>
  } // sound: all programs are like that
  return copy.make(origin, variant)
}

const main = async () => {
  process.on("disconnect", () => process.exit())
  const runs = {
    removed: await make(removed, "lean"),
    asItIs: await make(asItIs, "lean"),
    traced: await make(asItIs, "traced")
  }
  process.on("message", async ({ turns, ...job }: Question) => {
    const answer: Record<Name, Array<number>> = { removed: [], asItIs: [], traced: [] }
    for (let turn = 0; turn < turns; turn++) {
      for (const name of orders[turn % orders.length] ?? names) {
        const { calls, cpuMicros } = await perform(runs[name], job)
        answer[name].push(cpuMicros / calls)
      }
    }
    process.send?.(answer)
  })
  const ready: Ready = { pid: process.pid }
  process.send?.(ready)
}

void main()
