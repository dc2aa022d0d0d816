/** `got`, with its defaults and an agent that keeps connections. */
import { got } from "got"
import { Agent } from "node:http"
import { client, promising } from "./client.js"
import { job, jobsPath, perPage, token, versionsPath } from "./payloads.js"

void client((origin) => {
  const api = got.extend({
    headers: { accept: "application/json", authorization: `Bearer ${token}` },
    agent: { http: new Agent({ keepAlive: true }) }
  })
  return promising({
    small: () => api.get(`${origin}${versionsPath}`).json(),
    page: () => api.get(`${origin}${versionsPath}`, { searchParams: { per_page: perPage } }).json(),
    job: () => api.post(`${origin}${jobsPath}`, { json: job }).json()
  })
})
