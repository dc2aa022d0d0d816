/** The same call with bare `fetch`, the lower bound for every script that uses `fetch`. */
const [, , origin = "", actionId = ""] = process.argv

const response = await fetch(`${origin}/api/v2/actions/actions/${actionId}/versions`, {
  headers: { accept: "application/json", authorization: "Bearer a-token" }
})
const { total } = await response.json() as { readonly total: number } // sound: the server of `start.ts` sends it
console.log(total)
