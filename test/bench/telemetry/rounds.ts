/**
 * Measures one program without telemetry, with it, and with a tracer, in one process. The copies were bundled separately and
 * run alternately, so that other load on the machine affects all of them equally.
 */
import { join } from "node:path"
import { type Job, perform, type Run } from "../calls/client.js"
import type { Variant } from "../calls/variants.js"

/** The argument of the process: the bundles and the server. */
export interface Start {
  readonly origin: string
  readonly program: string
  readonly removed: string
  readonly included: string
}

const names = ["removed", "included", "traced"] as const

export type Name = typeof names[number]

/** All orders of the programs: the order must not matter. */
const orders = names.flatMap((first) => {
  const others = names.filter((name) => name !== first)
  return [[first, ...others], [first, ...others.toReversed()]]
})

/** Sent to the process: the job and its number of rounds. */
export interface Question extends Job {
  readonly rounds: number
}

/** Sent by the process: microseconds of CPU time per call, for each round. */
export type Measured = Readonly<Record<Name, ReadonlyArray<number>>>

export interface Ready {
  readonly pid: number
}

const { included, origin, program, removed } = JSON.parse(process.argv[2] ?? "") as Start // sound: the parent process wrote it

const make = async (directory: string, variant: Variant): Promise<Run> => {
  const copy = await import(join(directory, `${program}.cjs`)) as {
    readonly make: (origin: string, variant: Variant) => Promise<Run>
  } // sound: all programs export it
  return copy.make(origin, variant)
}

const main = async () => {
  process.on("disconnect", () => process.exit())
  const runs = {
    removed: await make(removed, "lean"),
    included: await make(included, "lean"),
    traced: await make(included, "traced")
  }
  process.on("message", async ({ rounds, ...job }: Question) => {
    const measured: Record<Name, Array<number>> = { removed: [], included: [], traced: [] }
    for (let round = 0; round < rounds; round++) {
      for (const name of orders[round % orders.length] ?? names) {
        const { calls, cpuMicros } = await perform(runs[name], job)
        measured[name].push(cpuMicros / calls)
      }
    }
    process.send?.(measured)
  })
  const ready: Ready = { pid: process.pid }
  process.send?.(ready)
}

void main()
