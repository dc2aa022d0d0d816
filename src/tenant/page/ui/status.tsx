/** Shows the status of a response in the colour of its class. */

/** The class of the colour of a status. */
const toneOf = (status: number): "good" | "info" | "warn" | "bad" => {
  if (status >= 500) return "bad"
  if (status >= 400) return "warn"
  return status >= 300 ? "info" : "good"
}

export const Status = ({ reason = "", status }: { readonly status: number; readonly reason?: string }) => (
  <span class={`tag ${toneOf(status)}`}>{`${status} ${reason}`.trim()}</span>
)
