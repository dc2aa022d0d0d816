/** The world of a simulation: its machine, its record, and the first invariant that was broken. */
import { Machine } from "./machine.js"
import type { Plan } from "./plan.js"

/** A broken invariant. */
export interface Violation {
  readonly invariant: string
  readonly message: string
}

export class World {
  readonly plan: Plan
  readonly machine: Machine
  readonly trace: Array<string> = []
  violation: Violation | undefined
  /** True once no fault may happen any more. */
  isHealed = false
  /** The lives that have warned that calls wait for their limiter. */
  readonly warned = new Set<string>()
  /** Texts that nobody may see: the client's secret, and all tokens. */
  readonly secrets = new Set<string>()
  private readonly begin: number

  constructor(plan: Plan) {
    this.plan = plan
    this.machine = new Machine(plan.seed, plan)
    this.begin = this.machine.now
  }

  /** The milliseconds since the begin. */
  get time(): number {
    return this.machine.now - this.begin
  }

  /** Adds a line to the record of what happens. */
  note(line: string): void {
    this.trace.push(`${String(this.time).padStart(7)} ${line}`)
  }

  /** Checks what a program or an operator can see: log lines, spans, failures, journals, the store. */
  show(...texts: ReadonlyArray<string>): void {
    for (const text of texts) {
      for (const secret of this.secrets) {
        const at = text.indexOf(secret)
        if (at >= 0) this.violate("secrets", text.slice(Math.max(0, at - 200), at + 20))
      }
    }
  }

  /** Reports that an invariant does not hold. Only the first report counts. */
  violate(invariant: string, message: string): void {
    this.note(`VIOLATION ${invariant}: ${message}`)
    this.violation ??= { invariant, message }
  }

  /** Finds what holds at this time. */
  during<Window extends { readonly from: number; readonly for: number }>(
    windows: ReadonlyArray<Window>
  ): Window | undefined {
    if (this.isHealed) return undefined
    return windows.find((window) => window.from <= this.time && this.time < window.from + window.for)
  }
}
