/** The account of what programs know about their calls, compared with what the service carried out. */
import { Cause, Effect, Exit, Option } from "effect"
import { inspect } from "node:util"
import type { Outcome, Result } from "../../src/Redelivery.js"
import { type Call, isJobCall, isOnce, keyOfRedelivery, sizes } from "./plan.js"
import { eventOf, type Service } from "./service.js"
import type { World } from "./world.js"

/** What a program knows after a call. */
type Knowledge = "success" | "not carried out" | "unknown"

interface Entry {
  readonly call: Call
  readonly isEnded: boolean
  /** `undefined` if the program has not learned anything: it interrupted the call, or died. */
  readonly knowledge: Knowledge | undefined
}

/** What failures of calls have in common. */
interface Failure {
  readonly _tag: string
  readonly outcome?: unknown
}

/** Calls that succeed if the service has carried out one request. */
const isSingle = (call: Call): boolean => call.kind !== "pages" && call.kind !== "redelivery" && !isJobCall(call)

const knowledgeOf = ({ _tag, outcome }: Failure): Knowledge =>
  _tag === "UnexpectedResponse" || (_tag === "TransportError" && outcome !== "not-sent") ? "unknown" : "not carried out"

const mayBeginAgain = ({ kind }: Call): boolean => kind === "redelivery" || kind === "submit" || kind === "finish"

/** The least and the greatest number of times that an event with this outcome may have been carried out. */
export const timesOf = (outcome: Outcome | "sending"): readonly [least: number, most: number] =>
  outcome === "accepted" ? [1, 1] : outcome === "unknown" || outcome === "sending" ? [0, 1] : [0, 0]

export class Account {
  private readonly world: World
  private readonly service: Service
  private readonly entries = new Map<string, Entry>()

  constructor(world: World, service: Service) {
    this.world = world
    this.service = service
  }

  /**
   * A call begins. Returns false if it must not: it has ended, or has begun in an earlier life. Only redeliveries can be
   * resumed, as their journal says what has been sent, and jobs submitted again.
   */
  begin(key: string, call: Call): boolean {
    const before = this.entries.get(key)
    if (before !== undefined && (before.isEnded || !mayBeginAgain(call))) return false
    this.entries.set(key, { call, isEnded: false, knowledge: undefined })
    this.world.note(`${key} begins: ${call.kind}`)
    return true
  }

  /** A call has ended. */
  end(key: string, exit: Exit.Exit<unknown, Failure>): void {
    const before = this.entries.get(key)
    if (before === undefined) return
    const isInterrupted = Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)
    const entry = { ...before, isEnded: !isInterrupted, knowledge: this.read(key, exit) }
    this.entries.set(key, entry)
    this.world.note(
      `${key} ends: ${entry.knowledge ?? "interrupted"} ${Exit.isFailure(exit) ? lineOf(exit.cause) : ""}`
    )
    this.check(key, entry)
  }

  private read(key: string, exit: Exit.Exit<unknown, Failure>): Knowledge | undefined {
    if (Exit.isSuccess(exit)) return "success"
    const { cause } = exit
    this.world.show(Cause.pretty(cause, { renderErrorCause: true }), JSON.stringify(cause), inspect(cause))
    const failure = Cause.failureOption(cause)
    if (Option.isSome(failure)) return knowledgeOf(failure.value)
    const isPlanned = this.world.plan.faults.some((fault) => fault.kind === "tracer" && fault.key === key)
    if (!Cause.isInterruptedOnly(cause) && !isPlanned) {
      this.world.violate("no defects", `${key}: ${Cause.pretty(cause)}`)
    }
    return undefined
  }

  /** Compares the number of items or results of a call with the number that there should be. */
  counted(key: string, count: number, expected: number): Effect.Effect<void> {
    return Effect.sync(() => {
      if (count !== expected) this.world.violate("complete", `${key}: ${count} of ${expected}`)
    })
  }

  /** A redelivery has a result for an event. */
  result(key: string, journal: number, { error, id, outcome, recalled }: Result): void {
    const event = Number(id.slice(-4))
    this.world.note(`${key} event ${event}: ${outcome}${recalled ? ", recalled" : ""}`)
    if (error !== undefined) this.world.show(JSON.stringify(error))
    if (outcome === "due") this.world.violate("journal", `${key}: ${id} is due`)
    this.checkEvent(key, journal, event, outcome)
  }

  private carriedOut(key: string): number {
    return this.service.carriedOut.get(key) ?? 0
  }

  private check(key: string, { call, knowledge }: Entry): void {
    const times = this.carriedOut(key)
    const finding = `${key}, ${call.kind}: ${knowledge ?? "nothing known"}, carried out ${times} times`
    if (isOnce(call) && times > 1) this.world.violate("once", finding)
    if (isSingle(call) && knowledge === "success" && times === 0) this.world.violate("success", finding)
    if (isOnce(call) && knowledge === "not carried out" && times > 0) this.world.violate("not carried out", finding)
  }

  private checkEvent(source: string, journal: number, event: number, outcome: Outcome | "sending" | undefined): void {
    const times = this.carriedOut(keyOfRedelivery(journal, event))
    const [least, most] = outcome === undefined ? [0, 0] : timesOf(outcome)
    const finding = `${source}: event ${event} of journal ${journal} is ${
      outcome ?? "absent"
    }, carried out ${times} times`
    if (times > 1) this.world.violate("once", finding)
    else if (times < least || times > most) this.world.violate("journal", finding)
  }

  /** Checks everything after the last message has arrived. */
  checkAll(journals: ReadonlyMap<number, ReadonlyMap<string, string>>): void {
    for (const [key, entry] of this.entries) this.check(key, entry)
    for (const [journal, entries] of journals) {
      for (let event = 0; event < sizes.events; event++) {
        const text = entries.get(Buffer.from(eventOf(event)).toString("hex"))
        this.checkEvent("journal", journal, event, text === undefined ? undefined : JSON.parse(text).outcome)
      }
    }
  }
}

const lineOf = (cause: Cause.Cause<unknown>): string => Cause.pretty(cause).split("\n", 1)[0] ?? ""
