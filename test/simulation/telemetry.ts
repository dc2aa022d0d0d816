/** The logger and the tracer of the simulated programs: they keep all that they get, and the tracer throws where the plan says so. */
import { Context, Inspectable, Logger, Tracer } from "effect"
import type { World } from "./world.js"

/** The attribute of a program's span that names its call. */
export const callAttribute = "call"

export const loggerOf = (world: World, process: string): Logger.Logger<unknown, void> =>
  Logger.make((options) => {
    const line = Logger.logfmtLogger.log(options)
    world.show(line)
    if (line.includes("for the rate limiter")) world.warned.add(process)
    world.note(`${process} logs ${Inspectable.toStringUnknown(options.message)}`)
  })

class RecordedSpan implements Tracer.Span {
  readonly _tag = "Span"
  readonly spanId: string
  readonly traceId = "simulation"
  readonly sampled = true
  readonly name: string
  readonly parent: Tracer.Span["parent"]
  readonly context: Context.Context<never> = Context.empty()
  readonly links: Array<Tracer.SpanLink>
  readonly kind: Tracer.SpanKind
  readonly attributes = new Map<string, unknown>()
  status: Tracer.SpanStatus
  private readonly world: World

  constructor(world: World, nth: number, { kind, links, name, parent, startTime }: Beginning) {
    this.world = world
    this.spanId = String(nth)
    this.name = name
    this.parent = parent
    this.links = [...links]
    this.kind = kind
    this.status = { _tag: "Started", startTime }
  }

  /** The call that the span belongs to. */
  get call(): unknown {
    const { parent } = this
    const own = this.attributes.get(callAttribute)
    return own ?? (parent._tag === "Some" && parent.value instanceof RecordedSpan ? parent.value.call : undefined)
  }

  private record(...parts: ReadonlyArray<unknown>): void {
    this.world.show(`${this.name} ${parts.map((part) => Inspectable.toStringUnknown(part)).join(" ")}`)
  }

  end(endTime: bigint, exit: Parameters<Tracer.Span["end"]>[1]): void {
    if (this.status._tag === "Ended") return
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    // A success is the program's own.
    if (exit._tag === "Failure") this.record(exit)
  }

  attribute(key: string, value: unknown): void {
    this.attributes.set(key, value)
    this.record(key, value)
  }

  event(name: string, _: bigint, attributes?: Record<string, unknown>): void {
    this.record(name, attributes)
    const { isHealed, plan } = this.world
    // Effect itself reports log lines as events, outside of all fibers.
    if (!name.startsWith("identity.") || isHealed) return
    if (plan.faults.some(({ key, kind }) => kind === "tracer" && key === this.call)) {
      this.world.note(`${this.call} the tracer throws at ${name}`)
      throw new Error("the tracer throws")
    }
  }

  addLinks(links: ReadonlyArray<Tracer.SpanLink>): void {
    this.links.push(...links)
  }
}

/** How a span begins. */
interface Beginning {
  readonly name: string
  readonly parent: Tracer.Span["parent"]
  readonly links: ReadonlyArray<Tracer.SpanLink>
  readonly startTime: bigint
  readonly kind: Tracer.SpanKind
}

export const tracerOf = (world: World): Tracer.Tracer => {
  let spans = 0
  return Tracer.make({
    context: (run) => run(),
    span: (name, parent, _, links, startTime, kind) =>
      new RecordedSpan(world, ++spans, { name, parent, links, startTime, kind })
  })
}
