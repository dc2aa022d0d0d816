/** Page after page by hand: `undici.request` and `JSON.parse`. */
import { request } from "@effect/platform-node/Undici"
import { token, versionsPath } from "../calls/payloads.js"
import { client, type Look } from "./client.js"
import { perPage } from "./pages.js"

void client((origin) => {
  const headers = { accept: "application/json", authorization: `Bearer ${token}` }
  const read = async (page: number, look: Look) => {
    const { body } = await request(`${origin}${versionsPath}?page=${page}&per_page=${perPage}`, { headers })
    const { versions } = JSON.parse(await body.text()) as { readonly versions: ReadonlyArray<{ readonly id: string }> }
    for (const version of versions) look(version)
  }
  let page = 0
  return {
    onePage: (look) => read(0, look),
    next: async (pages, look) => {
      for (const end = page + pages; page < end; page++) await read(page, look)
    }
  }
})
