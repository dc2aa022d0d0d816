/** `ky`, with its defaults. */
import ky from "ky"
import { client, runPromises } from "./client.js"
import { job, jobsPath, perPage, token, versionsPath } from "./payloads.js"

void client((origin) => {
  const api = ky.create({ headers: { accept: "application/json", authorization: `Bearer ${token}` } })
  return runPromises({
    small: () => api.get(`${origin}${versionsPath}`).json(),
    page: () => api.get(`${origin}${versionsPath}`, { searchParams: { per_page: perPage } }).json(),
    job: () => api.post(`${origin}${jobsPath}`, { json: job }).json()
  })
})
