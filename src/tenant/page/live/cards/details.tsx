/** One request in full: its headers and bodies, secrets masked, and as a command for curl. */
import { useEffect, useState } from "preact/hooks"
import type { RecordedMessage, RequestDetails, RequestSummary } from "../../../control/http/schemas.js"
import { call } from "../../ui/api.js"
import { CopyButton } from "../../ui/copy.js"
import { pretty, shortened } from "../../ui/json.js"
import { commandOf } from "../data/command.js"
import { count, duration, timeOfDay } from "../format.js"
import { OutcomeTag } from "./requestRow.js"

const Message = ({ message: { body, headers, size } }: { readonly message: RecordedMessage }) => (
  <>
    <dl class="pairs">
      {Object.entries(headers).map((
        [name, value]
      ) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
    </dl>
    {size === 0 ? <p class="soft">No body.</p> : body === null
      ? <p class="soft">{count(size, "byte")}, not kept or binary.</p>
      : <pre tabIndex={0}>{shortened(pretty(body))}</pre>}
  </>
)

/** The details of a request; they are asked for again when its response has come. */
const useDetails = (key: string, id: number, outcome: RequestSummary["outcome"] | undefined) => {
  const [details, set] = useState<RequestDetails | Error>()
  useEffect(() => {
    let current = true
    const put = (found: RequestDetails | Error) => {
      if (current) set(found)
    }
    call(key, "request", { parameter: id, query: {} }).then(put, put)
    return () => {
      current = false
    }
  }, [key, id, outcome])
  return details
}

export const Details = ({ id, onClose, onSelect, outcome, tenantKey }: {
  readonly id: number
  readonly outcome: RequestSummary["outcome"] | undefined
  readonly tenantKey: string
  readonly onSelect: (id: number) => void
  readonly onClose: () => void
}) => {
  const found = useDetails(tenantKey, id, outcome)
  const details = found instanceof Error || found?.id !== id ? undefined : found
  return (
    <section
      id="details"
      class="details"
      tabIndex={-1}
      aria-labelledby="details-heading"
      onKeyDown={(event) => event.key === "Escape" && onClose()}
    >
      <div class="row">
        <h3 id="details-heading">Request #{id}</h3>
        {details !== undefined && <OutcomeTag outcome={details.outcome} status={details.status} />}
        <span class="row push">
          {details !== undefined && <CopyButton label="Copy as curl" text={() => commandOf(details, location)} />}
          <button type="button" onClick={onClose}>Close</button>
        </span>
      </div>
      {found instanceof Error && <p class="problem">{found.message}</p>}
      {details !== undefined && (
        <>
          <p>
            <span class="method">{details.method}</span> <code>{details.path}</code>
          </p>
          <p class="soft">
            {[
              timeOfDay(details.time),
              details.duration === null ? "" : `took ${duration(details.duration)}`,
              details.operation ?? "no operation",
              details.client === null ? "no client" : `client ${details.client}`,
              details.token === null ? "" : `token ${details.token}`,
              details.left === null ? "" : `${details.left} left in the bucket`,
              details.fault === null ? "" : "took a fault"
            ].filter((part) => part !== "").join(" · ")}
            {details.retryOf !== null && (
              <>
                {" · "}
                <button
                  type="button"
                  class="plain"
                  onClick={() => details.retryOf !== null && onSelect(details.retryOf)}
                >
                  retry {details.retry} of #{details.retryOf}
                </button>
              </>
            )}
          </p>
          <div class="messages">
            <section aria-label="What was sent">
              <h4>Sent</h4>
              <Message message={details.request} />
            </section>
            <section aria-label="The response">
              <h4>Response</h4>
              {details.response === null ? <p class="soft">None.</p> : <Message message={details.response} />}
            </section>
          </div>
        </>
      )}
    </section>
  )
}
