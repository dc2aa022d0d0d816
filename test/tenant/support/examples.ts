/** The example inputs of the operations. */
import { examples } from "../../../src/tenant/docs/examples.js"
import type { FieldValues, Subject } from "../../support/operations.js"

export const exampleOf = ({ endpoint: { name } }: Subject): FieldValues =>
  (examples as Readonly<Record<string, FieldValues>>)[name] ?? {}
