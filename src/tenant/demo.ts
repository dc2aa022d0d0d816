/** A tenant to try things on: what it holds and who may call it, as constants that a program can name. */
import * as Redacted from "effect/Redacted"
import { served } from "./served.js"
import type { Seed, Version } from "./state.js"
import type { Client } from "./tokens.js"

const trigger = { id: "post-login", version: "v3" } as const

const version = (
  action: { readonly id: string; readonly name: string },
  id: string,
  number: number,
  built: string
) => ({
  id,
  action_id: action.id,
  code: `exports.onExecutePostLogin = (event, api) => {\n  api.idToken.setCustomClaim("revision", ${number})\n}\n`,
  dependencies: [],
  deployed: false,
  runtime: "node22",
  secrets: [],
  status: "built",
  number,
  errors: [],
  action: { ...action, supported_triggers: [trigger], all_changes_deployed: true },
  built_at: built,
  created_at: built,
  updated_at: built,
  supported_triggers: [trigger]
} satisfies Version)

const greet = { id: "910b1053-577f-4d81-a8c8-020e7319a38a", name: "greet" }
const exchange = { id: "3f2a6c1e-8b0d-4c57-9e41-5d7a0c9b6f12", name: "exchange-legacy-token" }

/** Holds connections, two actions with versions, a token exchange profile and streams with events in every state. */
export const demo = {
  connections: [
    { id: "con_7hQ2xLw9TzVb4KdE", name: "Username-Password-Authentication" },
    { id: "con_Rk3mN8sYpA6JcU1g", name: "google-oauth2" }
  ],
  actions: [
    {
      id: greet.id,
      versions: [
        {
          ...version(greet, "5b1c7a52-0e6d-4f0b-9a83-2f61d4c0e7b3", 3, "2023-03-02T09:21:40.550198413Z"),
          deployed: true,
          dependencies: [{ name: "lodash", version: "4.17.21" }],
          secrets: [{ name: "API_KEY", updated_at: "2023-03-02T09:20:01.118204377Z" }]
        },
        version(greet, "c0a5e1f4-6d3b-4b7a-8f29-7be13d90a264", 2, "2023-02-11T15:03:27.900071286Z"),
        version(greet, "e7d94b08-13fa-4c6e-b5d2-91a8f07c3e55", 1, "2023-01-25T17:42:12.004394259Z")
      ]
    },
    {
      id: exchange.id,
      versions: [
        {
          ...version(exchange, "84f0d2b6-a95c-4e13-bc70-06e2f918d7a4", 1, "2024-06-18T08:00:59.310022748Z"),
          deployed: true,
          supported_triggers: [{ id: "custom-token-exchange", version: "v1" }]
        }
      ]
    }
  ],
  profiles: [
    {
      id: "tep_4Wn8bXq2RvTy6LsZ",
      name: "Legacy tokens",
      type: "custom_authentication",
      subject_token_type: "urn:example:legacy-token",
      action_id: exchange.id,
      created_at: "2024-06-18T08:05:12.427Z",
      updated_at: "2024-06-18T08:05:12.427Z"
    }
  ],
  streams: [
    {
      id: "est_6ZcQmD3vK8rWnYp5TsAhX2",
      events: [
        { id: "evt_9hBvKx3TzQ7mWc4RnLpYs2", state: "failed" },
        { id: "evt_3pGtMw8XqJ5rVz6YdNkUb7", state: "failed" },
        { id: "evt_5sRnHy2CfP8wLm4ZxKqTj9", state: "queued" },
        { id: "evt_7kDzAe6VuS3bQx9WgMhFr4", state: "delivered" }
      ]
    },
    { id: "est_2FtVbN7xLq4GzRk9MwJeC8", events: [] }
  ]
} as const satisfies Seed

const scopes = served.map(({ endpoint }) => endpoint.scope)

/** Who may call the demo tenant: a client for everything, one that may only read actions, one that is not global. */
export const demoClients = {
  full: { id: "demo-full", secret: Redacted.make("demo-full-secret"), scopes, global: true },
  readsActions: {
    id: "demo-reads-actions",
    secret: Redacted.make("demo-reads-actions-secret"),
    scopes: ["read:actions"],
    global: true
  },
  notGlobal: { id: "demo-not-global", secret: Redacted.make("demo-not-global-secret"), scopes, global: false }
} satisfies Readonly<Record<string, Client>>
