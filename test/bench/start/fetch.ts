/** The same with `fetch` and nothing else: no script over `fetch` can take less. */
const [, , origin = "", actionId = ""] = process.argv

const response = await fetch(`${origin}/api/v2/actions/actions/${actionId}/versions`, {
  headers: { accept: "application/json", authorization: "Bearer a-token" }
})
const { total } = await response.json() as { readonly total: number } // sound: the server of `start.ts` answers so
console.log(total)
