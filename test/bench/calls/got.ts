/** `got`, with its defaults and a keep-alive agent. */
import { got } from "got"
import { Agent } from "node:http"
import { client, runPromises } from "./client.js"
import { job, jobsPath, perPage, token, versionsPath } from "./payloads.js"

void client((origin) => {
  const api = got.extend({
    headers: { accept: "application/json", authorization: `Bearer ${token}` },
    agent: { http: new Agent({ keepAlive: true }) }
  })
  return runPromises({
    small: () => api.get(`${origin}${versionsPath}`).json(),
    page: () => api.get(`${origin}${versionsPath}`, { searchParams: { per_page: perPage } }).json(),
    job: () => api.post(`${origin}${jobsPath}`, { json: job }).json()
  })
})
