/** Shows a response that came: its status and meaning, headers and body. */
import { CopyButton } from "../ui/copy.js"
import { pretty, shortened } from "../ui/json.js"
import { Prose } from "../ui/prose.js"
import { Status } from "../ui/status.js"
import type { Operation } from "./document.js"
import type { Received } from "./request.js"

/** The meaning of a status, as the document says it. */
const meaningOf = ({ responses }: Operation, status: number): string => {
  const all = new Map(responses)
  return (all.get(String(status)) ?? all.get("default"))?.description ?? ""
}

export const ReceivedResponse = ({ operation, received }: {
  readonly operation: Operation
  readonly received: Received
}) => {
  const { body, headers, millis, reason, status } = received
  const meaning = meaningOf(operation, status)
  return (
    <section class="received" aria-label="Response">
      <div class="row">
        <Status status={status} reason={reason} />
        <span class="soft">{Math.round(millis)} ms</span>
        {meaning !== reason && (
          <span class="soft">
            <Prose text={meaning} />
          </span>
        )}
        {body !== "" && (
          <span class="push">
            <CopyButton label="Copy body" text={() => body} />
          </span>
        )}
      </div>
      {body === "" ? <p class="soft">No body.</p> : <pre tabIndex={0}>{shortened(pretty(body))}</pre>}
      <details open>
        <summary>{headers.length} response headers</summary>
        <dl class="pairs">
          {headers.map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
        </dl>
      </details>
    </section>
  )
}
