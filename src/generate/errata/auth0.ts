/**
 * Corrections of Auth0's document of the Management API: where real tenants have been seen to answer or to accept something else. The
 * description of each says what, and when that was last recorded.
 */
import type { Overlay } from "../overlay/overlay.js"

/** The place of the JSON that an operation answers with. */
const answer = (path: string, method = "get", status = "200") =>
  `$.paths['${path}'].${method}.responses['${status}'].content['application/json']`

export const auth0: Overlay = {
  overlay: "1.0.0",
  info: { title: "Corrections of Auth0's document of the Management API", version: "1.0.0" },
  actions: [
    {
      target: `${answer("/event-streams/{id}/deliveries")}.schema`,
      description: "Deliveries come in an object, not as a bare list (recorded on 2025-09-09).",
      remove: true
    },
    {
      target: answer("/event-streams/{id}/deliveries"),
      description:
        "A page of deliveries, with the checkpoint of the next one unless it is the last (recorded on 2025-09-09).",
      update: {
        schema: {
          type: "object",
          required: ["deliveries"],
          properties: {
            deliveries: { type: "array", items: { $ref: "#/components/schemas/EventStreamDelivery" } },
            next: { type: "string" }
          }
        }
      }
    }
  ]
}
