/** Page after page by hand: `undici.request` and `JSON.parse`. */
import { request } from "@effect/platform-node/Undici"
import { token, versionsPath } from "../calls/payloads.js"
import { client } from "./client.js"
import { perPage } from "./pages.js"

void client((origin) => {
  const headers = { accept: "application/json", authorization: `Bearer ${token}` }
  return async (pages, look) => {
    for (let page = 0; page < pages; page++) {
      const { body } = await request(`${origin}${versionsPath}?page=${page}&per_page=${perPage}`, { headers })
      const { versions } = JSON.parse(await body.text()) as {
        readonly versions: ReadonlyArray<{ readonly id: string }>
      }
      for (const version of versions) look(version)
    }
  }
})
