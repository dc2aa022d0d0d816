/** Faults for the next calls: a status, a delay, a broken connection. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import type { FaultInput, FaultView, Snapshot } from "../../../control/http/schemas.js"
import type { Act } from "../act.js"
import { count, duration } from "../format.js"

const statuses = [400, 401, 403, 404, 409, 429, 500, 502, 503, 504]

const cuts = { before: "before the response", within: "within the body" } as const

const effectOf = ({ cut, delay, status }: FaultView): string =>
  [
    delay > 0 ? `waits ${duration(delay)}` : "",
    status === null ? "" : `responds ${status}`,
    cut === null ? "" : `breaks the connection ${cuts[cut]}`
  ].filter((part) => part !== "").join(", ")

/** The fault that a form describes; a field that is empty is not set. */
const faultIn = (form: FormData): FaultInput => {
  const text = (name: string) => String(form.get(name) ?? "")
  const number = (name: string) => text(name) === "" ? undefined : Number(text(name))
  const cut = text("cut")
  const given = {
    times: number("times"),
    operation: text("operation") || undefined,
    status: number("status"),
    delay: number("delay"),
    cut: cut === "before" || cut === "within" ? cut : undefined
  } satisfies FaultInput
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** A field of the form below its label. */
const Field = ({ children, label, name }: {
  readonly label: string
  readonly name: string
  readonly children: ComponentChildren
}) => (
  <div>
    <label for={`fault-${name}`}>{label}</label>
    {children}
  </div>
)

export const Faults = ({ act, faults, operations }: {
  readonly act: Act
  readonly faults: Snapshot["faults"]
  readonly operations: Snapshot["operations"]
}) => {
  const [problem, setProblem] = useState("")
  const add = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }) => {
    event.preventDefault()
    const fault = faultIn(new FormData(event.currentTarget))
    const isEmpty = fault.status === undefined && fault.cut === undefined && (fault.delay ?? 0) === 0
    setProblem(isEmpty ? "Choose a status, a delay or a break." : "")
    if (!isEmpty) {
      act(
        "addFault",
        { body: fault },
        (added) => `The next ${added.left === 1 ? "call" : `${added.left} calls`}: ${effectOf(added)}`
      )
    }
  }
  return (
    <section class="card" aria-labelledby="faults">
      <div class="row head">
        <h2 id="faults">Faults</h2>
        <button
          type="button"
          class="push"
          disabled={faults.length === 0}
          onClick={() => act("removeFaults", {}, ({ changed }) => `${count(changed, "fault")} removed`)}
        >
          Remove all
        </button>
      </div>
      <form class="fields" onSubmit={add}>
        <Field label="Next calls" name="times">
          <input id="fault-times" name="times" type="number" min={1} max={1_000_000} defaultValue="1" required />
        </Field>
        <Field label="Operation" name="operation">
          <select id="fault-operation" name="operation">
            <option value="">any</option>
            {operations.map(({ name }) => <option key={name} value={name}>{name}</option>)}
          </select>
        </Field>
        <Field label="Status" name="status">
          <input
            id="fault-status"
            name="status"
            type="number"
            min={200}
            max={599}
            list="statuses"
            placeholder="as usual"
          />
          <datalist id="statuses">{statuses.map((status) => <option key={status} value={status} />)}</datalist>
        </Field>
        <Field label="Delay, ms" name="delay">
          <input id="fault-delay" name="delay" type="number" min={0} max={3_600_000} placeholder="0" />
        </Field>
        <Field label="Connection" name="cut">
          <select id="fault-cut" name="cut">
            <option value="">kept</option>
            {Object.entries(cuts).map(([cut, text]) => <option key={cut} value={cut}>broken {text}</option>)}
          </select>
        </Field>
        <button class="strong">Add fault</button>
      </form>
      {problem !== "" && <p class="bad nothing" role="alert">{problem}</p>}
      {faults.length > 0 && (
        <ul class="items" tabIndex={0} aria-label="Faults that wait for calls">
          {faults.map((fault) => (
            <li key={fault.id} class="row">
              <strong>{count(fault.left, "call")}</strong>
              <span class="soft">of {fault.operation ?? "any operation"}</span>
              <span>{effectOf(fault)}</span>
              <button
                type="button"
                class="plain push"
                aria-label={`Remove the fault: ${effectOf(fault)}`}
                onClick={() => act("removeFault", { parameter: fault.id }, () => "Fault removed")}
              >
                Remove
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
