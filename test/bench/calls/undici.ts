/** The lower bound: only `undici.request` and `JSON.parse`. */
import { Agent, request, setGlobalDispatcher } from "@effect/platform-node/Undici"
import { client, runPromises } from "./client.js"
import { job, jobsPath, perPage, token, versionsPath } from "./payloads.js"

void client((origin) => {
  const connections = Number(process.env["CONNECTIONS"] ?? 0)
  if (connections > 0) setGlobalDispatcher(new Agent({ connections }))
  const headers = { accept: "application/json", authorization: `Bearer ${token}` }
  const get = async (path: string): Promise<unknown> => {
    const { body } = await request(`${origin}${path}`, { headers })
    return JSON.parse(await body.text())
  }
  return runPromises({
    small: () => get(versionsPath),
    page: () => get(`${versionsPath}?per_page=${perPage}`),
    job: async () => {
      const { body } = await request(`${origin}${jobsPath}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(job)
      })
      return JSON.parse(await body.text()) as unknown
    }
  })
})
