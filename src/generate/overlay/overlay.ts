/** Applies OpenAPI Overlays 1.0 (https://spec.openapis.org/overlay/v1.0.0). */
import * as Either from "effect/Either"
import { jsonpath, type JSONValue } from "json-p3"
import { at, fail, type Note } from "../model/specError.js"
import * as Json from "../read/json.js"
import { edit, type Location, without } from "./edit.js"

/** An overlay as its file has it. */
export interface Overlay {
  readonly overlay: string
  readonly info: { readonly title: string; readonly version: string }
  readonly actions: ReadonlyArray<{
    /** A JSONPath (RFC 9535), for example `$.components.schemas.User.properties`. */
    readonly target: string
    readonly description?: string
    /** Merged into each object that matches, or appended to each list. */
    readonly update?: unknown
    /** Removes what matches. */
    readonly remove?: boolean
  }>
}

export const isOverlay = (value: unknown): value is Json.JsonObject => Json.isObject(value) && "overlay" in value

/** Places in an order in which each can be removed without moving the next: what is inside first, and the end of a list first. */
const backwards = (places: ReadonlyArray<Location>): ReadonlyArray<Location> =>
  [
    ...new Map(places.map((location) => [
      location.map((key) => typeof key === "number" ? String(key).padStart(16, "0") : key).join("\0"),
      location
    ]))
  ].sort(([a], [b]) => a < b ? 1 : -1).map(([, location]) => location)

const matches = (document: unknown, target: string, pointer: string): ReadonlyArray<Location> => {
  // Sound: a parsed document is JSON.
  const found = Either.try(() => jsonpath.query(target, document as JSONValue).nodes.map(({ location }) => location))
  return backwards(Either.getOrElse(found, (error) => {
    const { message } = error instanceof Error ? error : { message: String(error) }
    return fail(pointer, `the target is not a JSONPath: ${message}`)
  }))
}

/** Objects are merged, lists are joined, and other values replaced. */
const merge = (part: unknown, update: unknown, pointer: string): unknown => {
  if (Array.isArray(part) && Array.isArray(update)) return [...part, ...update]
  if (!Json.isObject(part) || !Json.isObject(update)) {
    return typeof part === "object" && part !== null && typeof update === "object" && update !== null
      ? fail(pointer, "an object and a list cannot be merged: remove the old value first")
      : update
  }
  return {
    ...part,
    ...Object.fromEntries(
      Object.entries(update).map((
        [name, value]
      ) => [name, Object.hasOwn(part, name) ? merge(part[name], value, at(pointer, name)) : value])
    )
  }
}

/** What an `update` makes of a part that its target matches. */
const updated = (part: unknown, update: unknown, pointer: string): unknown => {
  if (Array.isArray(part)) return [...part, update]
  if (!Json.isObject(part)) {
    fail(pointer, "only objects and lists can be updated: let the target be the object around it")
  }
  if (!Json.isObject(update)) fail(pointer, "an object can only be updated with an object")
  return merge(part, update, pointer)
}

const applyAction = (document: unknown, value: unknown, index: number, note: (note: Note) => void): unknown => {
  const pointer = at("#/actions", index)
  const action = Json.object(value, pointer)
  const target = Json.string(action["target"]) ?? fail(at(pointer, "target"), "the action has no target")
  const places = matches(document, target, at(pointer, "target"))
  if (places.length === 0) {
    note({ pointer, message: `action ${index + 1} changes nothing, because nothing matches ${target}` })
  }
  if (action["remove"] === true) {
    if (places.some(({ length }) => length === 0)) fail(pointer, "the whole document cannot be removed")
    return places.reduce<unknown>(without, document)
  }
  if (!("update" in action)) fail(pointer, "the action has neither update nor remove")
  const place = at(pointer, "update")
  return places.reduce<unknown>(
    (document, location) => edit(document, location, (part) => updated(part, action["update"], place)),
    document
  )
}

/** Applies the actions in turn. Throws a `SpecError` with the place in the overlay. */
export const applyOverlay = (document: unknown, overlay: Json.JsonObject, note: (note: Note) => void): unknown => {
  const version = String(overlay["overlay"])
  if (!/^1\.0\b/.test(version)) fail("#/overlay", `version ${version} of overlays is not supported, only 1.0`)
  return Json.array(overlay["actions"], "#/actions").reduce<unknown>(
    (document, action, index) => applyAction(document, action, index, note),
    document
  )
}
