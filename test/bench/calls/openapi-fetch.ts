/** `openapi-fetch`, with the types that a generator would write for it. */
import createClient from "openapi-fetch"
import { client, runPromises } from "./client.js"
import { actionId, job, perPage, token } from "./payloads.js"

interface JsonResponse {
  readonly 200: { readonly content: { readonly "application/json": Record<string, unknown> } }
}

interface Paths {
  readonly "/actions/actions/{actionId}/versions": {
    readonly get: {
      readonly parameters: {
        readonly path: { readonly actionId: string }
        readonly query?: { readonly per_page?: number }
      }
      readonly responses: JsonResponse
    }
  }
  readonly "/jobs/users-exports": {
    readonly post: {
      readonly requestBody: { readonly content: { readonly "application/json": typeof job } }
      readonly responses: JsonResponse
    }
  }
}

void client((origin) => {
  const api = createClient<Paths>({
    baseUrl: `${origin}/api/v2`,
    headers: { accept: "application/json", authorization: `Bearer ${token}` }
  })
  const list = async (query: { readonly per_page?: number }) =>
    (await api.GET("/actions/actions/{actionId}/versions", { params: { path: { actionId }, query } })).data
  return runPromises({
    small: () => list({}),
    page: () => list({ per_page: perPage }),
    job: async () => (await api.POST("/jobs/users-exports", { body: job })).data
  })
})
