/** Decides which schemas of `components` get a name, one for both directions or one for each, and in which file they are. */
import * as Arr from "effect/Array"
import { freeName, schemaName } from "../model/names.js"
import type { Direction, Operation } from "../model/operation.js"
import { children, type Shape } from "../model/shape.js"
import { at, fail } from "../model/specError.js"
import { factor, flatten, objectsIn, type Tags, tagsOf } from "../model/tags.js"
import type { SchemaReader } from "../read/schemaReader.js"
import { fieldsOf, loosen, SchemaPrinter } from "./schema.js"

const pointerOf = (name: string): string => at("#/components/schemas", name)

/** Responses first: a schema that is the same in both directions is that of responses. */
const directions: ReadonlyArray<Direction> = ["response", "request"]

/** A schema of `components` as requests or responses use it. */
export interface Variant {
  readonly component: string
  readonly direction: Direction
  /** The name of its type and its schema. */
  readonly name: string
  /** It contains itself, so that its type is written out. */
  readonly isRecursive: boolean
  readonly shape: Shape
  /** The names of the operations that use it. */
  readonly users: ReadonlySet<string>
}

/** The shapes of an operation, by direction. */
const rootsOf = ({ body, headers, params, query, success }: Operation): Record<Direction, ReadonlyArray<Shape>> => ({
  request: [
    ...[...params, ...query, ...headers].map(({ shape }) => shape),
    ...body === undefined ? [] : body._tag === "Whole" ? [body.shape] : body.shape.fields.map(({ shape }) => shape)
  ],
  response: success === undefined ? [] : [success.shape]
})

/** Schemas so short that their name would say no more. */
const isTrivial = (shape: Shape, direction: Direction): boolean => {
  const { _tag } = shape
  return _tag === "Unknown" || _tag === "Never" || _tag === "Null" || _tag === "Boolean" || _tag === "File" ||
    (direction === "response" && (_tag === "String" || _tag === "Number"))
}

/** The names of the types of schemas. Of several that would get the same, the one with that very name keeps it; others get numbers. */
const typeNamesOf = (components: ReadonlyArray<string>): ReadonlyMap<string, string> => {
  const isExact = (component: string) => schemaName(component) === component
  const [exact, others] = [components.filter(isExact), components.filter((component) => !isExact(component))]
  const taken = new Set<string>()
  return new Map([...exact, ...others].map((component) => {
    const name = freeName(schemaName(component), (key) => taken.has(key))
    taken.add(name.toLowerCase())
    return [component, name]
  }))
}

type Key = `${Direction} ${string}`

const keyOf = (direction: Direction, component: string): Key => `${direction} ${component}`

interface Text {
  readonly text: string
  readonly refs: ReadonlyArray<string>
}

export class Components {
  readonly #reader: SchemaReader
  readonly #texts = new Map<Key, Text>()
  readonly #variants = new Map<Key, Variant>()
  readonly #closed = new Map<string, Shape>()
  readonly #files: ReadonlyMap<Variant, string>
  /** The schemas that are branches of unions of several objects. */
  #branches: ReadonlySet<string> = new Set()

  constructor(reader: SchemaReader, operations: ReadonlyArray<Operation>) {
    this.#reader = reader
    this.#branches = this.#findBranches(operations, [...this.#findUsers(operations).keys()])
    // The tags of branches are written out, so other schemas are used now.
    this.#texts.clear()
    this.#closed.clear()
    this.#makeVariants(this.#findUsers(operations))
    this.#files = this.#findFiles()
  }

  /** The variant of a schema; `undefined` if it is so short that it is written out. */
  find(component: string, direction: Direction): Variant | undefined {
    return this.#variants.get(keyOf(direction, component))
  }

  /** The file in `schemas` that holds a schema which several operations share. */
  fileOf(variant: Variant): string {
    return this.#files.get(variant) ?? variant.name
  }

  /** The shape of a schema, whose tags are closed if it is a branch of a union. */
  shape(component: string): Shape {
    const known = this.#closed.get(component)
    if (known !== undefined) return known
    const read = this.#reader.component(component)
    const shape = this.close(this.#branches.has(component) ? this.#withClosedTags(read) : read)
    this.#closed.set(component, shape)
    return shape
  }

  /** Closes the tags of the objects that are branches of unions in a shape. */
  close(shape: Shape): Shape {
    switch (shape._tag) {
      case "Array":
        return { ...shape, items: this.close(shape.items) }
      case "Tuple":
        return {
          ...shape,
          elements: shape.elements.map((element) => this.close(element)),
          rest: shape.rest && this.close(shape.rest)
        }
      case "Object":
        return {
          ...shape,
          fields: shape.fields.map((field) => ({ ...field, shape: this.close(field.shape) })),
          additional: typeof shape.additional === "string" ? shape.additional : this.close(shape.additional)
        }
      case "Union": {
        if (!this.#isUnionOfObjects(shape)) {
          return {
            ...shape,
            branches: shape.branches.map((each) => this.close(each))
          }
        }
        const { branches, tags } = this.#branchesOf(shape)
        const factored = tags === undefined ? factor(branches.map((each) => this.#reader.dereference(each))) : undefined
        if (factored !== undefined) return this.close(factored)
        const closed = branches.map((branch) => this.close(this.#withClosedTags(branch)))
        return { _tag: "Union", branches: closed, ...tags !== undefined && { tags } }
      }
      default:
        return shape
    }
  }

  /** Closes the required fields of an object that have one value. */
  #withClosedTags(shape: Shape): Shape {
    if (shape._tag !== "Object") return shape
    return {
      ...shape,
      fields: shape.fields.map((field) => {
        const target = field.shape._tag === "Ref" ? this.#reader.component(field.shape.name) : field.shape
        return shape.required.includes(field.name) && target._tag === "Literal" && target.values.length === 1
          ? { ...field, shape: { ...target, isTag: true as const } }
          : field
      })
    }
  }

  /** The branches of a union, those of unions within it included, and the fields that tell its objects apart. */
  #branchesOf(shape: Shape): { readonly branches: ReadonlyArray<Shape>; readonly tags: Tags | undefined } {
    const branches = flatten(shape, (each) => this.#reader.dereference(each))
    const objects = branches.map((each) => this.#reader.dereference(each)).filter((each) => each._tag === "Object")
    return { branches, tags: tagsOf(objects, (field) => this.#reader.dereference(field)) }
  }

  #isUnionOfObjects(shape: Shape): boolean {
    return shape._tag === "Union" && objectsIn(shape, (each) => this.#reader.dereference(each)) > 1
  }

  /** The variants that an operation uses, those first that others refer to. */
  usedBy(operation: Operation): ReadonlyArray<Variant> {
    const found = new Set<Variant>()
    const visited = new Set<Variant>()
    const visit = (variant: Variant): void => {
      if (visited.has(variant)) return
      visited.add(variant)
      this.#refsOf(variant.component, variant.direction).forEach((name) => visitName(name, variant.direction))
      found.add(variant)
    }
    const visitName = (name: string, direction: Direction): void => {
      const variant = this.find(name, direction)
      if (variant !== undefined) visit(variant)
    }
    const roots = rootsOf(operation)
    for (const direction of directions) {
      for (const shape of roots[direction]) {
        this.#refs(this.close(shape), direction).forEach((name) => visitName(name, direction))
      }
    }
    return [...found]
  }

  /** The names of the schemas that a shape refers to itself. */
  #refs(shape: Shape, direction: Direction): ReadonlyArray<string> {
    const target = direction === "response" ? loosen(shape) : shape
    if (target._tag === "Ref") return isTrivial(this.#reader.component(target.name), direction) ? [] : [target.name]
    const inner = target._tag === "Object"
      ? [
        ...fieldsOf(target, direction).map(({ shape }) => shape),
        ...typeof target.additional === "string" ? [] : [target.additional]
      ]
      : children(target)
    return [...new Set(inner.flatMap((child) => this.#refs(child, direction)))]
  }

  #refsOf(component: string, direction: Direction): ReadonlyArray<string> {
    return this.#text(component, direction).refs
  }

  /** The text of a schema with the names of `components`. */
  #text(component: string, direction: Direction): Text {
    const key = keyOf(direction, component)
    const known = this.#texts.get(key)
    if (known !== undefined) return known
    const shape = this.shape(component)
    const refs = this.#refs(shape, direction)
    const printer = new SchemaPrinter({ ref: (name) => `<${name}>`, use: (name) => name }, direction)
    const text = { text: printer.print(shape), refs }
    this.#texts.set(key, text)
    return text
  }

  /** The operations that use each variant. */
  #findUsers(operations: ReadonlyArray<Operation>): ReadonlyMap<Key, ReadonlySet<string>> {
    const users = new Map<Key, Set<string>>()
    const visit = (component: string, direction: Direction, user: string): void => {
      const key = keyOf(direction, component)
      const known = users.get(key) ?? new Set()
      if (known.has(user)) return
      users.set(key, known.add(user))
      this.#checkUnion(component)
      for (const name of this.#refsOf(component, direction)) visit(name, direction, user)
    }
    for (const operation of operations) {
      const roots = rootsOf(operation)
      for (const direction of directions) {
        for (const shape of roots[direction]) {
          for (const name of this.#refs(this.close(shape), direction)) visit(name, direction, operation.name)
        }
      }
    }
    return users
  }

  /** Fails if a union is a branch of itself: no value could be checked. */
  #checkUnion(component: string, seen: ReadonlyArray<string> = []): void {
    if (seen.includes(component)) fail(pointerOf(component), "the union is a branch of itself")
    const shape = this.shape(component)
    if (shape._tag !== "Union") return
    for (const branch of shape.branches) if (branch._tag === "Ref") this.#checkUnion(branch.name, [...seen, component])
  }

  /** The schemas that are branches of unions of several objects. */
  #findBranches(operations: ReadonlyArray<Operation>, keys: ReadonlyArray<Key>): ReadonlySet<string> {
    const found = new Set<string>()
    const visit = (shape: Shape): void => {
      if (shape._tag === "Union" && this.#isUnionOfObjects(shape)) {
        for (const branch of shape.branches) if (branch._tag === "Ref") found.add(branch.name)
      }
      children(shape).forEach(visit)
    }
    for (const key of keys) visit(this.shape(key.slice(key.indexOf(" ") + 1)))
    for (const operation of operations) {
      Object.values(rootsOf(operation)).flat().forEach((shape) => visit(this.close(shape)))
    }
    return found
  }

  #makeVariants(users: ReadonlyMap<Key, ReadonlySet<string>>): void {
    const names = [...new Set([...users.keys()].map((key) => key.slice(key.indexOf(" ") + 1)))].sort()
    const isUsed = (name: string, direction: Direction) => users.has(keyOf(direction, name))
    const both = names.filter((name) => isUsed(name, "request") && isUsed(name, "response"))
    const split = new Set(both.filter((name) => this.#text(name, "request").text !== this.#text(name, "response").text))
    for (let size = -1; size !== split.size;) {
      size = split.size
      for (const name of both) if (this.#refsOf(name, "response").some((ref) => split.has(ref))) split.add(name)
    }
    const typeNames = typeNamesOf(names)
    const taken = new Set([...typeNames.values()].map((name) => name.toLowerCase()))
    const free = (name: string): string =>
      taken.has(name.toLowerCase()) ? free(name.replace(/Input$/, "RequestInput")) : name
    const nameOf = (component: string, direction: Direction): string => {
      const name = typeNames.get(component) ?? schemaName(component)
      if (direction === "response" || !split.has(component)) return name
      const input = free(`${name}Input`)
      taken.add(input.toLowerCase())
      return input
    }
    const drafts = directions.flatMap((direction) =>
      names.filter((name) => isUsed(name, direction)).map((component) => ({ component, direction }))
    )
    for (const { component, direction } of drafts) {
      const merged = !split.has(component) && isUsed(component, "response") ? "response" : direction
      const existing = this.#variants.get(keyOf(merged, component))
      if (existing !== undefined) {
        this.#variants.set(keyOf(direction, component), existing)
        continue
      }
      const merge = !split.has(component) && both.includes(component)
      this.#variants.set(keyOf(direction, component), {
        component,
        direction,
        name: nameOf(component, direction),
        isRecursive: this.#reach(component, direction).has(component),
        shape: this.shape(component),
        users: new Set([
          ...users.get(keyOf(direction, component)) ?? [],
          ...merge ? users.get(keyOf("request", component)) ?? [] : []
        ])
      })
    }
  }

  /**
   * Schemas that the same operations use share a file, so that an operation loads few files, and no schema that it does not use. The
   * file has the shortest name of those that none of the others refers to.
   */
  #findFiles(): ReadonlyMap<Variant, string> {
    const variants = [...new Set(this.#variants.values())].sort((a, b) =>
      a.name.length - b.name.length || (a.name < b.name ? -1 : 1)
    )
    const groups = Object.values(Arr.groupBy(variants, ({ users }) => [...users].sort().join()))
    return new Map(groups.flatMap((group) => {
      const referred = new Set(group.flatMap((variant) =>
        this.#refsOf(variant.component, variant.direction)
          .map((name) => this.find(name, variant.direction)).filter((other) => other !== variant)
      ))
      const { name } = group.find((variant) => !referred.has(variant)) ?? group[0]
      return group.map((variant) => [variant, name] as const)
    }))
  }

  /** The schemas that a schema contains, directly or not. */
  #reach(component: string, direction: Direction): ReadonlySet<string> {
    const found = new Set<string>()
    const visit = (name: string): void => {
      for (const ref of this.#refsOf(name, direction)) {
        if (!found.has(ref)) {
          found.add(ref)
          visit(ref)
        }
      }
    }
    visit(component)
    return found
  }
}
