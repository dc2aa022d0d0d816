/** The live page: follows the tenant and shows all its parts. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { call } from "../ui/api.js"
import { useKey } from "../ui/useKey.js"
import type { Act } from "./act.js"
import { Bucket } from "./cards/bucket.js"
import { Control } from "./cards/control.js"
import { Details } from "./cards/details.js"
import { Faults } from "./cards/faults.js"
import { Jobs } from "./cards/jobs.js"
import { Requests } from "./cards/requests.js"
import { Streams } from "./cards/streams.js"
import { Tokens } from "./cards/tokens.js"
import { type Connection, follow } from "./data/eventStream.js"
import { apply, type Model, tenantTime } from "./data/model.js"
import { focusSoon } from "./focus.js"
import { KeyForm } from "./keyForm.js"

/** The time between two frames if no message comes, in milliseconds. */
const frame = 250

/** Follows the tenant. Messages are taken in at once; the page is drawn at most once in each frame of the screen. */
const useTenant = (key: string) => {
  const model = useRef<Model | undefined>(undefined)
  const [connection, setConnection] = useState<Connection>("connecting")
  const [, draw] = useState(0)
  useEffect(() => {
    let asked = 0
    const drawSoon = () => {
      asked ||= requestAnimationFrame(() => {
        asked = 0
        draw((before) => before + 1)
      })
    }
    const timer = setInterval(drawSoon, frame)
    const stop = key === "" ? () => {} : follow({
      key,
      onConnection: setConnection,
      onMessage: (message) => {
        model.current = apply(model.current, message, performance.now())
        drawSoon()
      }
    })
    return () => {
      stop()
      clearInterval(timer)
      cancelAnimationFrame(asked)
    }
  }, [key])
  return { model: model.current, connection }
}

const connectionTexts: Readonly<Record<Connection, readonly [tone: string, text: string]>> = {
  connecting: ["info", "Connecting"],
  connected: ["good", "Live"],
  lost: ["bad", "Disconnected"],
  refused: ["bad", "Key refused"]
}

/** A sentence that is announced, and disappears after a while. */
const useSaid = () => {
  const [said, say] = useState<{ readonly text: string; readonly failed: boolean }>()
  useEffect(() => {
    if (said === undefined) return
    const timer = setTimeout(() => say(undefined), 6000)
    return () => clearTimeout(timer)
  }, [said])
  return [said, say] as const
}

const Parts = ({ act, isConnected, model, say, tenantKey }: {
  readonly isConnected: boolean
  readonly act: Act
  readonly model: Model
  readonly say: (problem: string) => void
  readonly tenantKey: string
}) => {
  // The page stands still while it hears nothing.
  const now = isConnected ? performance.now() : model.heardAt
  const time = tenantTime(model, now)
  const { buckets, clockOffset, counts, faults, instance, jobs, operations, streams, tokens } = model.snapshot
  const [selected, select] = useState<number>()
  useEffect(() => select(undefined), [instance])
  return (
    <main>
      <div class="buckets">
        {buckets.map((bucket) => (
          <Bucket key={bucket.name} act={act} bucket={bucket} now={now} points={model.points[bucket.name] ?? []} />
        ))}
      </div>
      <section class="card requests" aria-labelledby="requests">
        <Requests model={model} now={now} selected={selected} onSelect={select} />
        {selected !== undefined && (
          <Details
            id={selected}
            outcome={model.requests.findLast(({ id }) => id === selected)?.outcome}
            tenantKey={tenantKey}
            onSelect={select}
            onClose={() => {
              select(undefined)
              focusSoon("request-rows")
            }}
          />
        )}
      </section>
      <div class="side">
        <Faults act={act} faults={faults} operations={operations} />
        <Control act={act} say={say} counts={counts} time={time} offset={clockOffset} />
      </div>
      <Tokens act={act} tokens={tokens} time={time} />
      <Jobs jobs={jobs} />
      <Streams act={act} streams={streams} time={time} />
    </main>
  )
}

export const App = () => {
  const [key, setKey] = useKey()
  const { connection, model } = useTenant(key)
  const [said, say] = useSaid()
  const act = useCallback<Act>((name, input, sentence) => {
    call(key, name, input).then(
      (response) => say({ text: sentence(response), failed: false }),
      ({ message }: Error) => say({ text: message, failed: true })
    )
  }, [key])
  const [tone, text] = key === "" ? ["warn", "No key"] : connectionTexts[connection]
  return (
    <>
      <header class="bar">
        <h1>Tenant</h1>
        <span class={`tag ${tone}`} role="status" aria-label="Connection">{text}</span>
        <span class="soft version">{model === undefined ? "" : `version ${model.snapshot.version}`}</span>
        <nav class="push row" aria-label="Pages">
          <a href="/docs">Operations</a>
        </nav>
      </header>
      <div class="said" role="status" aria-label="Result">
        {said !== undefined && <p class={said.failed ? "problem" : "done"}>{said.text}</p>}
      </div>
      {connection === "lost" && key !== "" && (
        <p class="notice" role="alert">
          The tenant cannot be reached{model === undefined ? "" : "; this is what it last said"}. The page connects
          again as soon as it runs.
        </p>
      )}
      {(key === "" || connection === "refused") && <KeyForm refused={key !== ""} onKey={setKey} />}
      {model === undefined
        ? connection === "connecting" && key !== "" && <p class="soft notice">Waiting for the tenant …</p>
        : (
          <div class={connection === "connected" ? "" : "stale"}>
            <Parts
              isConnected={connection === "connected"}
              act={act}
              model={model}
              say={(text) => say({ text, failed: true })}
              tenantKey={key}
            />
          </div>
        )}
    </>
  )
}
