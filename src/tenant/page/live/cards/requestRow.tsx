/** A row of the list of requests. */
import type { RequestSummary } from "../../../control/http/schemas.js"
import { Status } from "../../ui/status.js"
import { duration, shortId, timeOfDay } from "../format.js"

/** The status of the response, or the reason why there is none. */
export const OutcomeTag = ({ outcome, status }: Pick<RequestSummary, "outcome" | "status">) => {
  if (outcome === "cut") return <span class="tag bad">cut</span>
  if (outcome === "aborted") return <span class="tag warn">aborted</span>
  return status === null ? <span class="tag">pending</span> : <Status status={status} />
}

/** The length of the end of a path that stays in sight if its middle does not fit. */
const endLength = 14

/** The client, and the token that it used. */
const CallerCell = ({ request: { client, token } }: { readonly request: RequestSummary }) => (
  <span
    role="gridcell"
    class="client soft"
    title={token === null ? client ?? "" : `${client ?? "no client"}, token ${token}`}
  >
    {client ?? "no client"}
    {token !== null && <span class="mono token">{shortId(token)}</span>}
  </span>
)

/** The path, and beside it the fault that the request took, and the request that it retries. */
const PathCell = ({ onSelect, request: { fault, path, retry, retryOf } }: {
  readonly request: RequestSummary
  readonly onSelect: (id: number) => void
}) => {
  const middle = path.length > 3 * endLength ? path.length - endLength : path.length
  return (
    <span role="gridcell" class="path">
      <span class="mono start" title={path}>{path.slice(0, middle)}</span>
      {middle < path.length && <span class="mono end">{path.slice(middle)}</span>}
      {fault !== null && <span class="tag bad">fault</span>}
      {retryOf !== null && (
        <button
          type="button"
          class="tag info"
          tabIndex={-1}
          title={`Retries request ${retryOf}`}
          onClick={(event) => {
            event.stopPropagation()
            onSelect(retryOf)
          }}
        >
          retry {retry} of #{retryOf}
        </button>
      )}
    </span>
  )
}

export const RequestRow = ({ active, index, onSelect, request, selected, top }: {
  readonly request: RequestSummary
  readonly index: number
  readonly top: number
  readonly active: boolean
  readonly selected: boolean
  readonly onSelect: (id: number) => void
}) => {
  const { id, method, time } = request
  return (
    <div
      id={`request-${id}`}
      class={`request${active ? " active" : ""}`}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={selected}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(id)}
    >
      <span role="gridcell" class="time mono soft">{timeOfDay(time)}</span>
      <span role="gridcell" class="method">{method}</span>
      <PathCell request={request} onSelect={onSelect} />
      <span role="gridcell" class="status">
        <OutcomeTag outcome={request.outcome} status={request.status} />
      </span>
      <span role="gridcell" class="duration soft">{request.duration === null ? "" : duration(request.duration)}</span>
      <CallerCell request={request} />
      <span role="gridcell" class="number soft">#{id}</span>
    </div>
  )
}
