/** The event streams, with their events and deliveries. */
import { useState } from "preact/hooks"
import type { EventView, Snapshot, StreamView } from "../../../control/http/schemas.js"
import type { Act } from "../act.js"
import { count, duration, timeOfDay } from "../format.js"

const tones = { failed: "bad", queued: "info", delivered: "good" } as const

const Event = ({ event, time }: { readonly event: EventView; readonly time: number }) => {
  const { attempts, dueAt, failsAgain, id, state, type } = event
  const last = attempts.at(-1)
  return (
    <li>
      <div class="row">
        <span class={`tag ${tones[state]}`}>{state}</span>
        <code>{id}</code>
        <span class="soft">{type}</span>
        {dueAt !== null && dueAt > time && <span class="soft">in {duration(dueAt - time)}</span>}
        {failsAgain > 0 && <span class="tag warn">fails {count(failsAgain, "more time")}</span>}
      </div>
      {last !== undefined && (
        <details>
          <summary class="soft">
            {count(attempts.length, "failed delivery", "failed deliveries")}
            {last.error !== null && `: ${last.error}`}
          </summary>
          <ul class="attempts">
            {attempts.map(({ error, time }, index) => (
              <li key={index} class="soft">{timeOfDay(time)} {error ?? "failed"}</li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

const Stream = ({ fail, stream, time }: {
  readonly stream: StreamView
  readonly time: number
  readonly fail: (stream: string) => void
}) => {
  const { delivered, destination, enabled, events, failed, id, name, queued } = stream
  return (
    <li>
      <div class="row">
        <strong>{name ?? id}</strong>
        {!enabled && <span class="tag warn">disabled</span>}
        <span class="soft">{destination ?? ""}</span>
        <button
          type="button"
          class="plain push"
          aria-label={`Fail deliveries of ${name ?? id}`}
          onClick={() => fail(id)}
        >
          Fail deliveries
        </button>
      </div>
      <p class="row counts">
        <span class={failed > 0 ? "bad" : "soft"}>{failed.toLocaleString("en")} failed</span>
        <span class={queued > 0 ? "" : "soft"}>{queued.toLocaleString("en")} queued</span>
        <span class={delivered > 0 ? "good" : "soft"}>{delivered.toLocaleString("en")} delivered</span>
        <code class="soft">{id}</code>
      </p>
      {events.total > 0 && (
        <details open>
          <summary class="soft">
            {count(events.total, "event")}
            {events.total > events.items.length && `, ${events.items.length} of them shown`}
          </summary>
          <ul class="events">{events.items.map((event) => <Event key={event.id} event={event} time={time} />)}</ul>
        </details>
      )}
    </li>
  )
}

export const Streams = ({ act, streams, time }: {
  readonly act: Act
  readonly streams: Snapshot["streams"]
  readonly time: number
}) => {
  const [times, setTimes] = useState(1)
  const fail = (stream?: string) =>
    act(
      "failDeliveries",
      { body: { times, ...(stream !== undefined && { stream }) } },
      ({ changed }) => `${count(changed, "event")} will fail`
    )
  return (
    <section class="card wide" aria-labelledby="streams">
      <div class="row head">
        <h2 id="streams">Event streams</h2>
        <span class="soft">{streams.total > 0 && streams.total.toLocaleString("en")}</span>
        <span class="row push">
          <label class="row">
            Redeliveries that fail, too
            <input
              class="short"
              type="number"
              min={0}
              max={1_000_000}
              value={times}
              onInput={(event) => setTimes(event.currentTarget.valueAsNumber || 0)}
            />
          </label>
          <button type="button" disabled={streams.total === 0} onClick={() => fail()}>Fail all deliveries</button>
        </span>
      </div>
      {streams.items.length === 0 && <p class="soft nothing">No event stream.</p>}
      <ul class="items tall" tabIndex={0} aria-label="Event streams">
        {streams.items.map((stream) => <Stream key={stream.id} stream={stream} time={time} fail={fail} />)}
      </ul>
    </section>
  )
}
