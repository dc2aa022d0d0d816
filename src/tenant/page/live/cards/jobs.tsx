/** The jobs, with their progress. */
import type { Snapshot } from "../../../control/http/schemas.js"
import { duration } from "../format.js"

const tones: Readonly<Record<string, string>> = { completed: "good", failed: "bad", processing: "info" }

export const Jobs = ({ jobs }: { readonly jobs: Snapshot["jobs"] }) => (
  <section class="card" aria-labelledby="jobs">
    <div class="row head">
      <h2 id="jobs">Jobs</h2>
      <span class="soft">{jobs.total > 0 && jobs.total.toLocaleString("en")}</span>
    </div>
    {jobs.items.length === 0 && <p class="soft nothing">No job yet.</p>}
    <ul class="items" tabIndex={0} aria-label="Jobs, the newest first">
      {jobs.items.map(({ connection, details, format, id, percentageDone, status, timeLeftSeconds, type }) => (
        <li key={id}>
          <div class="row">
            <code>{id}</code>
            <span class={`tag ${tones[status] ?? ""}`}>{status}</span>
            <span class="soft">
              {[type.replaceAll("_", " "), format, connection].filter((part) =>
                part !== null
              ).join(" · ")}
            </span>
          </div>
          {(status === "pending" || status === "processing") && (
            <div class="row progress">
              <progress value={percentageDone} max={100} aria-label={`Progress of ${id}`} />
              <span>{Math.round(percentageDone)} %</span>
              {timeLeftSeconds !== null && <span class="soft">{duration(timeLeftSeconds * 1000)} left</span>}
            </div>
          )}
          {details !== null && <p class={status === "failed" ? "bad" : "soft"}>{details}</p>}
        </li>
      ))}
    </ul>
  </section>
)
