/** The statements that select events of a job by their outcomes. */
import { endStates } from "../jobs/model.js"

/** The join from an event to its entry, whose key is the id in hexadecimal digits. */
export const entryOfEvent = "n ON n.job = e.job AND n.key = encode(convert_to(e.id, 'UTF8'), 'hex')"

/** Selects a page of a job's events. Of a job that is there, it has at least one row. */
const eventsWhere = (condition: string): string => `
SELECT j.state, p.position::double precision AS position, p.event, p.value
FROM identity_client_jobs AS j
LEFT JOIN LATERAL (
  SELECT e.position, e.id AS event, n.value
  FROM identity_client_events AS e LEFT JOIN identity_client_entries AS ${entryOfEvent}
  WHERE e.job = j.id AND e.position > $2 AND (${condition})
  ORDER BY e.position LIMIT $3
) AS p ON true
WHERE j.id = $1 ORDER BY p.position`

/** The states of jobs that have ended, as a list. */
export const ended = `(${endStates.map((state) => `'${state}'`).join(", ")})`

export const unfinishedEvents = eventsWhere("n.outcome IS NULL OR n.outcome IN ('sending', 'failed')")

export const eventsWithOutcome = eventsWhere(
  `n.outcome <> 'sending' OR (n.outcome = 'sending' AND j.state IN ${ended})`
)
