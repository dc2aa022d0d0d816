/** Node's own `fetch`. */
import { client, runPromises } from "./client.js"
import { job, jobsPath, perPage, token, versionsPath } from "./payloads.js"

void client((origin) => {
  const headers = { accept: "application/json", authorization: `Bearer ${token}` }
  const get = async (path: string): Promise<unknown> => (await fetch(`${origin}${path}`, { headers })).json()
  return runPromises({
    small: () => get(versionsPath),
    page: () => get(`${versionsPath}?per_page=${perPage}`),
    job: async () => {
      const response = await fetch(`${origin}${jobsPath}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(job)
      })
      return response.json() as Promise<unknown>
    }
  })
})
