/** Reads page after page by hand, with `undici.request` and `JSON.parse`. */
import { request } from "@effect/platform-node/Undici"
import { token, versionsPath } from "../calls/payloads.js"
import { client, type Visit } from "./client.js"
import { perPage } from "./pages.js"

void client((origin) => {
  const headers = { accept: "application/json", authorization: `Bearer ${token}` }
  const read = async (page: number, visit: Visit) => {
    const { body } = await request(`${origin}${versionsPath}?page=${page}&per_page=${perPage}`, { headers })
    const { versions } = JSON.parse(await body.text()) as { readonly versions: ReadonlyArray<{ readonly id: string }> }
    for (const version of versions) visit(version)
  }
  let page = 0
  return {
    onePage: (visit) => read(0, visit),
    next: async (pages, visit) => {
      for (const end = page + pages; page < end; page++) await read(page, visit)
    }
  }
})
