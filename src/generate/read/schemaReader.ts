/** Reads the schemas of a document into shapes. */
import * as Either from "effect/Either"
import { intersect } from "../model/intersect.js"
import {
  anyString,
  boolean,
  type Field,
  never,
  nil,
  nullable,
  type ObjectShape,
  type Primitive,
  ref,
  type Shape,
  union,
  unknown
} from "../model/shape.js"
import { at, fail, type Note } from "../model/specError.js"
import type { Faults } from "./document.js"
import * as Json from "./json.js"
import { impliedType, uncheckedKeywords, unknownKeywords } from "./keywords.js"
import { numberShape } from "./numberShape.js"

const components = "#/components/schemas/"

/** Reads the schemas of one document. */
export class SchemaReader {
  readonly #document: Json.JsonObject
  readonly #faults: Faults
  /** OpenAPI 3.0 has keywords of its own. */
  readonly #isLegacy: boolean
  readonly #shapes = new Map<string, Shape>()
  /** The names in `components` of the schemas that others were made of. */
  readonly #origins = new Map<string, string>()
  readonly #reading: Array<string> = []
  readonly notes: Array<Note> = []

  constructor(document: Json.JsonObject, faults: Faults = new Map()) {
    this.#document = document
    this.#faults = faults
    this.#isLegacy = String(document["openapi"]).startsWith("3.0")
  }

  /** Adds a note on what the result does not say. */
  note(pointer: string, message: string): void {
    if (!this.notes.some((note) => note.pointer === pointer && note.message === message)) {
      this.notes.push({ pointer, message })
    }
  }

  /** Fails if the part at a pointer is not valid. */
  check(pointer: string): void {
    const fault = this.#faults.get(pointer)
    if (fault !== undefined) throw fault
  }

  /** Follows references until something else comes. Returns it with its own pointer. */
  resolve(value: unknown, pointer: string, seen: ReadonlyArray<string> = []): readonly [Json.JsonObject, string] {
    const found = Json.object(value, pointer)
    const target = found["$ref"]
    if (target === undefined) return [found, pointer]
    const [referred, place] = this.#referred(target, pointer)
    if (seen.includes(place)) return fail(at(pointer, "$ref"), `the reference ${place} leads back to itself`)
    return this.resolve(referred, place, [...seen, place])
  }

  /** The schema of `components` with a name; never a reference. */
  component(name: string): Shape {
    const known = this.#shapes.get(name)
    if (known !== undefined) return known
    const pointer = at(components.slice(0, -1), name)
    const shape = this.#reading.includes(pointer)
      ? fail(pointer, `the schema contains itself by way of allOf or $ref: ${[...this.#reading, pointer].join(" → ")}`)
      : this.#within(pointer, () => {
        this.check(pointer)
        const shape = this.read(this.#componentValue(name), pointer)
        return shape._tag === "Ref" ? this.component(shape.name) : shape
      })
    this.#shapes.set(name, shape)
    return shape
  }

  /** Refers to a schema that is made, once, of one of `components`. Its name has a space, which none of theirs has. */
  derive(name: string, kind: string, make: (shape: Shape) => Shape): Shape {
    const derived = `${name} ${kind}`
    if (!this.#origins.has(derived)) {
      this.#origins.set(derived, name)
      this.#shapes.set(derived, make(this.component(name)))
    }
    return ref(derived)
  }

  /** The comment on a schema of `components`. */
  description(name: string): string | undefined {
    const schema = this.#componentValue(this.#origins.get(name) ?? name)
    return Json.isObject(schema) ? Json.string(schema["description"]) ?? Json.string(schema["title"]) : undefined
  }

  #componentValue(name: string): unknown {
    return Json.own(Json.object(Json.lookUp(this.#document, components.slice(0, -1)), components), name)
  }

  #within<A>(pointer: string, read: () => A): A {
    this.#reading.push(pointer)
    const result = Either.try({ try: read, catch: (error) => error })
    this.#reading.pop()
    return Either.getOrThrowWith(result, (error) => error)
  }

  /** Follows a shape that is a reference. */
  dereference(shape: Shape): Shape {
    return shape._tag === "Ref" ? this.component(shape.name) : shape
  }

  /** The shape of a schema. */
  read(value: unknown, pointer: string): Shape {
    if (typeof value === "boolean") return value ? unknown : never
    if (!Json.isObject(value)) return fail(pointer, "a schema must be an object or a boolean")
    const [keyword] = unknownKeywords(value)
    if (keyword !== undefined) fail(at(pointer, keyword), `the keyword ${keyword} is not understood`)
    for (const name of uncheckedKeywords(value)) this.note(at(pointer, name), `the keyword ${name} is not checked`)
    if ("$ref" in value && this.#isLegacy) return this.#reference(value["$ref"], pointer)
    const parts = [
      ..."$ref" in value ? [this.#reference(value["$ref"], pointer)] : [],
      this.#own(value, pointer),
      ...this.#combined(value, pointer)
    ]
    const shape = parts.reduce((a, b) => this.#both(a, b, pointer), unknown)
    return value["nullable"] === true ? nullable(shape) : shape
  }

  #both(a: Shape, b: Shape, pointer: string): Shape {
    const both = intersect(a, b, {
      component: (name) => this.component(name),
      note: (message) => this.note(pointer, message)
    })
    return both ?? fail(pointer, "no value can match all of these schemas")
  }

  #reference(target: unknown, pointer: string): Shape {
    const [schema, place] = this.#referred(target, pointer)
    const keys = Json.keysOf(place) ?? []
    if (place.startsWith(components) && keys.length === 3) return ref(keys.slice(2).join(""))
    if (this.#reading.includes(place)) fail(at(pointer, "$ref"), `the reference ${place} leads back to itself`)
    return this.#within(place, () => this.read(schema, place))
  }

  /** The value that a reference names, which may be another reference, and its pointer. */
  #referred(target: unknown, pointer: string): readonly [unknown, string] {
    if (typeof target !== "string" || !target.startsWith("#/")) {
      return fail(at(pointer, "$ref"), `the reference ${String(target)} leads out of the document: bundle it first`)
    }
    const referred = Json.lookUp(this.#document, target)
    if (referred === undefined) fail(at(pointer, "$ref"), `the reference ${target} leads to nothing`)
    this.check(at("#", ...(Json.keysOf(target) ?? []).slice(0, 3)))
    return [referred, target]
  }

  /** The schemas of `allOf`, `oneOf` and `anyOf`. */
  #combined(schema: Json.JsonObject, pointer: string): ReadonlyArray<Shape> {
    const list = (name: string): ReadonlyArray<Shape> => {
      const place = at(pointer, name)
      const branches = Json.array(schema[name], place)
      if (branches.length === 0) fail(place, `${name} has no schemas`)
      return branches.map((branch, index) => this.read(branch, at(place, index)))
    }
    return [
      ..."allOf" in schema ? list("allOf") : [],
      ..."oneOf" in schema ? [union(this.#discriminated(schema, list("oneOf"), at(pointer, "discriminator")))] : [],
      ..."anyOf" in schema ? [union(this.#discriminated(schema, list("anyOf"), at(pointer, "discriminator")))] : []
    ]
  }

  /** Gives each branch of a union the value of the discriminator, if the branch itself does not state it. */
  #discriminated(schema: Json.JsonObject, branches: ReadonlyArray<Shape>, pointer: string): ReadonlyArray<Shape> {
    if (schema["discriminator"] === undefined) return branches
    const discriminator = Json.object(schema["discriminator"], pointer)
    const given = Json.string(discriminator["propertyName"]) ?? fail(pointer, "expected a propertyName")
    const name = Json.fieldName(given, at(pointer, "propertyName"))
    const mapping = Object.entries(Json.objectOrEmpty(discriminator["mapping"], at(pointer, "mapping")))
    return branches.map((branch) => {
      if (branch._tag !== "Ref") return branch
      const target = this.dereference(branch)
      if (target._tag !== "Object") return branch
      const field = target.fields.find((field) => field.name === name)
      if (field !== undefined && this.dereference(field.shape)._tag === "Literal") return branch
      const named = mapping.filter(([, to]) => to === branch.name || to === `${components}${branch.name}`)
      const values = named.length === 0 ? [branch.name] : named.map(([value]) => value)
      const tag: ObjectShape = {
        _tag: "Object",
        fields: [{ name, shape: { _tag: "Literal", values }, readOnly: false, writeOnly: false, deprecated: false }],
        required: [name],
        additional: "unstated"
      }
      return this.#both(target, tag, pointer)
    })
  }

  /** The shape of a schema's own keywords, without the schemas that it refers to. */
  #own(schema: Json.JsonObject, pointer: string): Shape {
    const types = this.#types(schema, pointer)
    const typed = types === undefined
      ? unknown
      : union(types.map((type) => this.#typed(type, schema, pointer)))
    const values = "const" in schema ? [schema["const"]] : schema["enum"]
    if (values === undefined) return typed
    const place = at(pointer, "const" in schema ? "const" : "enum")
    const literals = Json.array(values, place)
    if (literals.length === 0) fail(place, "an enum without values accepts nothing")
    const primitives = literals.filter((value): value is Primitive =>
      ["string", "number", "boolean"].includes(typeof value)
    )
    if (primitives.length + literals.filter((value) => value === null).length < literals.length) {
      this.note(place, "values that are lists or objects are not checked")
      return typed
    }
    return this.#both(
      typed,
      union([
        ...primitives.length === 0 ? [] : [{ _tag: "Literal" as const, values: [...new Set(primitives)] }],
        ...literals.includes(null) ? [nil] : []
      ]),
      place
    )
  }

  /** The types of a schema, stated or implied by its keywords. */
  #types(schema: Json.JsonObject, pointer: string): ReadonlyArray<string> | undefined {
    const type = schema["type"] ?? impliedType(schema)
    if (type === undefined) return undefined
    return Array.isArray(type) ? type.map(String) : [Json.string(type) ?? fail(at(pointer, "type"), "expected a name")]
  }

  #typed(type: string, schema: Json.JsonObject, pointer: string): Shape {
    switch (type) {
      case "string":
        return this.#string(schema, pointer)
      case "integer":
      case "number":
        return numberShape(schema, type === "integer")
      case "boolean":
        return boolean
      case "null":
        return nil
      case "array":
        return this.#array(schema, pointer)
      case "object":
        return this.#object(schema, pointer)
      default:
        return fail(at(pointer, "type"), `there is no type ${type}`)
    }
  }

  #string(schema: Json.JsonObject, pointer: string): Shape {
    const { contentMediaType } = schema
    if (schema["format"] === "binary" || (contentMediaType !== undefined && schema["contentEncoding"] === undefined)) {
      return { _tag: "File" }
    }
    const pattern = Json.string(schema["pattern"])
    return {
      ...anyString,
      min: Json.number(schema["minLength"]) || undefined,
      max: Json.number(schema["maxLength"]),
      patterns: pattern === undefined || !this.#isPattern(pattern, at(pointer, "pattern")) ? [] : [pattern],
      format: Json.string(schema["format"])
    }
  }

  #isPattern(pattern: string, pointer: string): boolean {
    const isPattern = Either.isRight(Either.try(() => new RegExp(pattern)))
    if (!isPattern) this.note(pointer, "the pattern is no regular expression of JavaScript, so it is not checked")
    return isPattern
  }

  #array(schema: Json.JsonObject, pointer: string): Shape {
    const { items, prefixItems } = schema
    const [min, max] = [Json.number(schema["minItems"]) || undefined, Json.number(schema["maxItems"])]
    if (Array.isArray(items)) fail(at(pointer, "items"), "a list of schemas is written as prefixItems")
    if (prefixItems === undefined) {
      const shape = items === undefined ? unknown : this.read(items, at(pointer, "items"))
      return { _tag: "Array", items: shape, min, max, unique: schema["uniqueItems"] === true }
    }
    const place = at(pointer, "prefixItems")
    const elements = Json.array(prefixItems, place).map((element, index) => this.read(element, at(place, index)))
    const rest = items === false || (max !== undefined && max <= elements.length)
      ? undefined
      : items === undefined
      ? unknown
      : this.read(items, at(pointer, "items"))
    return { _tag: "Tuple", elements, required: Math.min(min ?? 0, elements.length), rest }
  }

  #object(schema: Json.JsonObject, pointer: string): Shape {
    const place = at(pointer, "properties")
    const fields = Object.entries(Json.objectOrEmpty(schema["properties"], place)).map(([name, value]) =>
      this.#field(name, value, at(place, name))
    )
    const requiredPlace = at(pointer, "required")
    const required = schema["required"] === undefined ? [] : Json.array(schema["required"], requiredPlace)
    return {
      _tag: "Object",
      fields,
      required: required.map((name, index) => Json.fieldName(String(name), at(requiredPlace, index))),
      additional: this.#additional(schema, fields.length > 0, pointer),
      min: Json.number(schema["minProperties"]) || undefined,
      max: Json.number(schema["maxProperties"])
    }
  }

  #field(name: string, value: unknown, pointer: string): Field {
    const { deprecated, description, readOnly, writeOnly }: Json.JsonObject = Json.isObject(value) ? value : {}
    return {
      name: Json.fieldName(name, pointer),
      shape: this.read(value, pointer),
      readOnly: readOnly === true,
      writeOnly: writeOnly === true,
      deprecated: deprecated === true,
      description: Json.string(description)
    }
  }

  #additional(schema: Json.JsonObject, hasFields: boolean, pointer: string): ObjectShape["additional"] {
    const { additionalProperties, patternProperties, unevaluatedProperties } = schema
    if (typeof unevaluatedProperties === "object") {
      fail(at(pointer, "unevaluatedProperties"), "only a boolean is understood here")
    }
    if (patternProperties !== undefined) {
      const place = at(pointer, "patternProperties")
      this.note(place, "the patterns of names are not checked")
      const shapes = Object.entries(Json.object(patternProperties, place)).map(([name, value]) =>
        this.read(value, at(place, name))
      )
      return hasFields || additionalProperties !== false ? unknown : union(shapes)
    }
    if (additionalProperties === undefined) return unevaluatedProperties === false ? "closed" : "unstated"
    if (typeof additionalProperties === "boolean") return additionalProperties ? "open" : "closed"
    const place = at(pointer, "additionalProperties")
    const shape = this.read(additionalProperties, place)
    if (!hasFields || shape._tag === "Unknown") return shape
    this.note(place, "the types of fields without names are not checked, because other fields have names")
    return unknown
  }
}
