/** Reads the limits of numbers. */
import type { NumberShape } from "../model/shape.js"
import * as Json from "./json.js"

/** The shape of a number. In OpenAPI 3.0 two flags make the limits themselves exclusive. */
export const numberShape = (schema: Json.JsonObject, integer: boolean): NumberShape => {
  const { exclusiveMaximum, exclusiveMinimum } = schema
  const [min, max] = [Json.number(schema["minimum"]), Json.number(schema["maximum"])]
  return {
    _tag: "Number",
    integer,
    min: exclusiveMinimum === true ? undefined : min,
    max: exclusiveMaximum === true ? undefined : max,
    above: exclusiveMinimum === true ? min : Json.number(exclusiveMinimum),
    below: exclusiveMaximum === true ? max : Json.number(exclusiveMaximum),
    multipleOf: Json.number(schema["multipleOf"])
  }
}
