/** A document that uses many features together. */
import type { Json } from "./documents.js"
import { list, object, ref, string } from "./printed.js"

const content = (schema: unknown) => ({ content: { "application/json": { schema } } })
const failures = (...statuses: ReadonlyArray<number>) => Object.fromEntries(statuses.map((status) => [status, {}]))

const id = {
  name: "order_id",
  in: "path",
  required: true,
  description: "The order.",
  schema: { ...string, minLength: 1 }
}

export const orders: Json = {
  openapi: "3.1.0",
  info: { title: "Orders", version: "1.0" },
  paths: {
    "/orders": {
      get: {
        operationId: "x",
        "x-operation-group": "orders",
        "x-operation-name": "list",
        "x-release-lifecycle": "EA",
        summary: "Lists orders.",
        description: "Newest first.\n\nA page has 50.",
        security: [{ oauth: ["read:orders"] }],
        parameters: [
          { name: "page", in: "query", schema: { type: "integer", minimum: 0 } },
          { name: "state", in: "query", description: "Only these.", schema: ref("OrderState") },
          { name: "X-Trace", in: "header", required: true, deprecated: true, schema: string }
        ],
        responses: {
          200: content(object({ total: { type: "integer" }, orders: list(ref("Order")) }, "orders")),
          ...failures(400, 401, 403, 500)
        }
      },
      post: {
        operationId: "x",
        "x-operation-group": "orders",
        "x-operation-name": "create",
        "x-release-lifecycle": "Beta",
        deprecated: true,
        security: [{ oauth: ["create:orders"] }, { bearer: ["admin:orders"] }],
        requestBody: {
          required: true,
          ...content({
            ...object({
              lines: { ...list(ref("OrderLine")), minItems: 1 },
              note: { ...string, description: "For the courier." },
              print: { ...string, format: "binary" },
              state: ref("OrderState")
            }, "lines"),
            minProperties: 2
          })
        },
        responses: { 201: content(ref("Order")), 204: {}, ...failures(402, 409, 410, 412, 413, 503) }
      }
    },
    "/orders/{order_id}": {
      parameters: [id],
      delete: { operationId: "delete_order", responses: { 204: {}, ...failures(404) } }
    },
    "/orders/{order_id}/events": {
      parameters: [id],
      get: {
        operationId: "viewOrder",
        summary: "Watches an order.",
        responses: { 200: { content: { "text/event-stream": { schema: ref("ViewOrder") } } } }
      }
    },
    "/orders/{order_id}/photo": {
      parameters: [id],
      put: {
        operationId: "setPhoto",
        requestBody: {
          content: {
            "multipart/form-data": {
              schema: { ...object({ photo: ref("Photo"), caption: string }, "photo"), minProperties: 1 }
            }
          }
        },
        responses: { 204: {} }
      }
    },
    "/states": {
      get: {
        operationId: "listStates",
        parameters: [{ name: "page", in: "query", schema: { type: "integer" } }],
        responses: { 200: content(list(string)) }
      },
      patch: {
        operationId: "patchStates",
        requestBody: content({ ...list(string), type: ["array", "null"] }),
        responses: { 200: content({ type: "boolean" }) }
      },
      put: {
        operationId: "clearStates",
        requestBody: { required: true, ...content({ type: "object", additionalProperties: false }) },
        responses: { 204: {} }
      }
    }
  },
  components: {
    schemas: {
      Order: {
        description: "An order.\n\nIt may be a part of another one.",
        ...object(
          {
            id: { ...string, minLength: 1 },
            state: ref("OrderState"),
            lines: { ...list(ref("OrderLine")), minItems: 1 },
            placed_at: { ...string, format: "date-time" },
            whole: { anyOf: [ref("Order"), { type: "null" }] }
          },
          "id",
          "lines"
        )
      },
      OrderLine: object(
        { sku: { ...string, pattern: "^[A-Z]+$" }, amount: { type: "integer", minimum: 1 } },
        "sku",
        "amount"
      ),
      OrderState: { ...string, title: "The state of an order.", enum: ["open", "closed"] },
      Photo: { ...string, format: "binary" },
      ViewOrder: object({ at: { ...string, format: "date-time" } })
    }
  }
}
