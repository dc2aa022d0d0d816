/** The clock and the state: moves the one, resets, saves and loads the other. */
import { useState } from "preact/hooks"
import type { Snapshot } from "../../../control/http/schemas.js"
import type { SavedState } from "../../../control/savedState.js"
import { parseJson } from "../../ui/json.js"
import type { Act } from "../act.js"
import { count, dayAndTime, duration } from "../format.js"

const units = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const

const steps = [["1 min", 60_000], ["1 h", 3_600_000], ["1 day", 86_400_000]] as const

/** Lets the browser save a text as a file. */
const download = (name: string, text: string): void => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

const save = (state: SavedState): string => {
  const name = `tenant-${dayAndTime(state.savedAt).replace(" ", "-").replaceAll(":", "")}.json`
  download(name, `${JSON.stringify(state, null, 2)}\n`)
  return `Saved as ${name}`
}

const Clock = ({ act, offset, time }: { readonly act: Act; readonly time: number; readonly offset: number }) => {
  const [amount, setAmount] = useState(30)
  const [unit, setUnit] = useState<keyof typeof units>("seconds")
  const move = (forward: number) =>
    act("moveClock", { body: { forward } }, ({ time }) => `The clock shows ${dayAndTime(time)}`)
  return (
    <>
      <p>
        <strong class="mono">{dayAndTime(time)}</strong>{" "}
        <span class="soft">{offset === 0 ? "" : `${duration(offset)} ahead`}</span>
      </p>
      <div class="row">
        {steps.map(([text, forward]) => <button key={text} type="button" onClick={() => move(forward)}>+ {text}
        </button>)}
      </div>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          move(amount * units[unit])
        }}
      >
        <input
          class="short"
          type="number"
          min={1}
          aria-label="Amount"
          value={amount}
          onInput={(event) => setAmount(event.currentTarget.valueAsNumber || 1)}
        />
        <select
          class="unit"
          aria-label="Unit"
          value={unit}
          // Sound: these are the options.
          onChange={(event) => setUnit(event.currentTarget.value as keyof typeof units)}
        >
          {Object.keys(units).map((name) => <option key={name} value={name}>{name}</option>)}
        </select>
        <button>Move</button>
      </form>
    </>
  )
}

export const Control = ({ act, counts, offset, say, time }: {
  readonly act: Act
  readonly say: (problem: string) => void
  readonly counts: Snapshot["counts"]
  readonly time: number
  readonly offset: number
}) => {
  const [secrets, setSecrets] = useState(false)
  const load = async (input: HTMLInputElement) => {
    const text = await input.files?.[0]?.text()
    input.value = ""
    const state = parseJson(text ?? "")
    if (typeof state !== "object" || state === null) return say("The file is not JSON.")
    act("load", { body: state as unknown as SavedState }, () => "State loaded") // sound: the tenant checks it
  }
  return (
    <section class="card" aria-labelledby="clock">
      <div class="head">
        <h2 id="clock">Clock</h2>
      </div>
      <div class="stack">
        <Clock act={act} time={time} offset={offset} />
      </div>
      <div class="head">
        <h2>State</h2>
      </div>
      <div class="stack">
        <p class="soft">
          {[
            count(counts.connections, "connection"),
            count(counts.actions, "action"),
            count(counts.profiles, "profile"),
            counts.users === null ? "generated users" : count(counts.users, "user")
          ].join(", ")}
        </p>
        <div class="row">
          <button type="button" onClick={() => act("save", { query: secrets ? { secrets: "include" } : {} }, save)}>
            Save
          </button>
          <label class="button">
            Load
            <input
              class="hidden"
              type="file"
              accept="application/json,.json"
              aria-label="Load a state"
              onChange={(event) => void load(event.currentTarget)}
            />
          </label>
          <button type="button" onClick={() => act("reset", {}, () => "Reset to the seed state")}>Reset</button>
        </div>
        <label class="row check">
          <input type="checkbox" checked={secrets} onChange={(event) => setSecrets(event.currentTarget.checked)} />
          Save secrets, too
        </label>
      </div>
    </section>
  )
}
