/**
 * What runs jobs in place of a cluster: it gives each to a living process, and to another when that dies, is stopped, stands still for too
 * long, or has too many. A process that has lost a job notices it late, so that sometimes two processes run one job.
 */
import { Effect } from "effect"
import type { JobStoreError } from "../../../src/jobs/model.js"
import type { JobRecord } from "../../../src/jobs/store.js"
import type { Life } from "../machine.js"
import { Draw, stream } from "../numbers.js"
import type { World } from "../world.js"
import type { JobAccount } from "./account.js"
import type { JobDatabase } from "./database.js"
import { jobsOf, type JobsPlan } from "./plan.js"

/** One run of a job, as a cluster names it: another one after the job is resumed. */
export interface Execution {
  readonly name: string
  readonly job: JobRecord
  owner: Runner | undefined
  /** The time from which a process may get it. */
  freeAt: number
  isDone: boolean
}

/** A process in one of its lives, as a place where jobs run. */
interface Runner {
  readonly life: Life
  readonly give: (execution: Execution) => void
  /** The executions that it has lost, and the times from which it knows that. */
  readonly lost: Map<Execution, number>
  pausedSince: number | undefined
  hasLeft: boolean
}

/** The time between two looks at all processes. */
const lookInterval = 500

/** The time between two starts of jobs whose submitter died before it could. */
const sweepInterval = 30_000

const nameOf = ({ id, resumed, submittedAt }: JobRecord): string => `${id}/${submittedAt}-${resumed}`

export class Engine {
  private readonly world: World
  private readonly database: JobDatabase
  private readonly account: JobAccount
  private readonly plan: JobsPlan
  private readonly executions = new Map<string, Execution>()
  private runners: ReadonlyArray<Runner> = []
  private readonly draw: Draw
  private readonly next: () => number

  constructor(world: World, database: JobDatabase, account: JobAccount) {
    this.world = world
    this.database = database
    this.account = account
    this.plan = jobsOf(world.plan)
    this.draw = new Draw(world.plan.seed, "engine")
    this.next = stream(world.plan.seed, "runners")
    for (const at of this.plan.moves) world.machine.after(at, () => this.moveAll())
    const look = () => {
      this.look()
      const isIdle = [...this.executions.values()].every(({ isDone }) => isDone)
      world.machine.after(isIdle ? 10 * lookInterval : lookInterval, look)
    }
    const sweep = () => {
      this.sweep()
      world.machine.after(sweepInterval, sweep)
    }
    look()
    sweep()
  }

  /** Makes sure that a job runs. A start that is there counts, also after its end. */
  start(process: number, life: Life, record: JobRecord): Effect.Effect<void, JobStoreError> {
    return this.database.ask(process, life, Effect.sync(() => this.add(record)))
  }

  private add(job: JobRecord): void {
    const name = nameOf(job)
    if (this.executions.has(name)) return
    this.executions.set(name, { name, job, owner: undefined, freeAt: 0, isDone: false })
    this.world.note(`engine starts job ${job.key}, resumed ${job.resumed} times`)
    const isSame = ({ id, submittedAt }: JobRecord) => id === job.id && submittedAt === job.submittedAt
    const starts = [...this.executions.values()].filter((execution) => isSame(execution.job)).length
    const resumed = this.account.jobs(this.database.rows).find(isSame)?.resumed ?? 0
    if (starts > resumed + 1) {
      this.world.violate("starts once", `job ${job.key} starts ${starts} times, resumed ${resumed} times`)
    }
    this.look()
  }

  /** A process offers to run jobs. */
  join(life: Life, give: Runner["give"]): Runner {
    const runner = { life, give, lost: new Map(), pausedSince: undefined, hasLeft: false }
    this.runners = [...this.runners, runner]
    this.look()
    return runner
  }

  /** A process gets no more jobs, because it ends. */
  leave(runner: Runner): void {
    runner.hasLeft = true
    this.look()
  }

  /** As far as a process knows, it runs this execution. */
  isOwner(runner: Runner, execution: Execution): boolean {
    return execution.owner === runner || this.world.time < (runner.lost.get(execution) ?? Infinity)
  }

  /** A process has carried out an execution, or has left it to another one. */
  ended(runner: Runner, execution: Execution, isDone: boolean): void {
    this.world.note(`${runner.life.name} ${isDone ? "has carried out" : "leaves"} job ${execution.job.key}`)
    if (isDone) execution.isDone = true
    else if (execution.owner === runner) this.free(execution)
  }

  private free(execution: Execution): void {
    execution.owner = undefined
    execution.freeAt = this.world.time + (this.world.isHealed ? 0 : this.draw.magnitude(this.plan.takeover))
  }

  private give(execution: Execution, without?: Runner): void {
    const able = this.runners.filter((runner) => runner !== without && this.isAble(runner))
    const runner = able[Math.floor(this.next() * able.length)]
    if (runner === undefined) return
    this.world.note(`engine gives job ${execution.job.key} to ${runner.life.name}`)
    execution.owner = runner
    runner.lost.delete(execution)
    runner.give(execution)
  }

  private isAble({ hasLeft, life }: Runner): boolean {
    return !hasLeft && life.state === "running"
  }

  /** A process will know after a time that another one runs an execution. One that stands still knows nothing. */
  private lose(runner: Runner, execution: Execution): void {
    const delay = this.draw.magnitude(this.plan.notice)
    runner.lost.set(execution, runner.life.state === "paused" ? Infinity : this.world.time + delay)
  }

  private look(): void {
    const { time } = this.world
    this.runners = this.runners.filter(({ hasLeft, life }) => !hasLeft && life.state !== "dead")
    for (const runner of this.runners) {
      if (runner.life.state === "paused") runner.pausedSince ??= time
      else if (runner.pausedSince !== undefined) {
        runner.pausedSince = undefined
        for (const execution of runner.lost.keys()) this.lose(runner, execution)
      }
    }
    for (const execution of this.executions.values()) {
      if (execution.isDone) continue
      const { owner } = execution
      if (owner !== undefined && !this.runners.includes(owner)) this.free(execution)
      else if (owner?.pausedSince !== undefined && time - owner.pausedSince > this.plan.patience) {
        this.lose(owner, execution)
        this.free(execution)
      }
      if (execution.owner === undefined && execution.freeAt <= time) this.give(execution)
    }
  }

  private moveAll(): void {
    if (this.world.isHealed) return
    for (const execution of this.executions.values()) {
      const { owner } = execution
      if (execution.isDone || owner === undefined) continue
      if (!this.runners.some((runner) => runner !== owner && this.isAble(runner))) continue
      this.lose(owner, execution)
      this.give(execution, owner)
    }
  }

  private sweep(): void {
    for (const record of this.account.jobs(this.database.rows)) if (record.state === "waiting") this.add(record)
  }
}
