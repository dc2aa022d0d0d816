/** The format of the rules: what of Effect 3 becomes what of Effect 4. */
import ts from "typescript"
import type { File } from "./file.js"

/** A call of a name of Effect. */
export interface Call {
  readonly node: ts.CallExpression
  readonly args: ReadonlyArray<ts.Expression>
  readonly typeArgs: ReadonlyArray<ts.TypeNode>
}

/** A call of a call, `Context.Tag("id")<Self, Shape>()`. The first level is the innermost. */
export interface CurriedCall {
  readonly node: ts.CallExpression
  readonly levels: ReadonlyArray<Call>
}

/** A call of a member of a value, `target.member(args)`. */
export interface MethodCall extends Call {
  readonly target: ts.Expression
}

/** Gives a node's new text, or `undefined` if the rule does not apply to it. */
type Rule<Node> = (node: Node, file: File) => string | undefined

type Table<A> = { readonly [key: string]: { readonly [name: string]: A } }

/** Rules by module, or by `module#Interface`, and by name. */
export interface Rules {
  /** Modules that moved. */
  readonly modules?: { readonly [module: string]: string }
  /** Names that changed; `module#name` moves one to another module. */
  readonly names?: Table<string>
  readonly calls?: Table<Rule<Call>>
  readonly curried?: Table<Rule<CurriedCall>>
  readonly types?: Table<Rule<ts.TypeReferenceNode>>
  readonly members?: Table<string | Rule<ts.PropertyAccessExpression>>
  readonly methods?: Table<Rule<MethodCall>>
  /** Rules by kind of node, a name of `ts.SyntaxKind`. */
  readonly nodes?: { readonly [Kind in keyof NodesByKind]?: Rule<NodesByKind[Kind]> }
}

interface NodesByKind {
  readonly ArrayLiteralExpression: ts.ArrayLiteralExpression
  readonly ArrowFunction: ts.ArrowFunction
  readonly BindingElement: ts.BindingElement
  readonly BinaryExpression: ts.BinaryExpression
  readonly CallExpression: ts.CallExpression
  readonly CaseClause: ts.CaseClause
  readonly ClassDeclaration: ts.ClassDeclaration
  readonly ExpressionWithTypeArguments: ts.ExpressionWithTypeArguments
  readonly Identifier: ts.Identifier
  readonly ImportDeclaration: ts.ImportDeclaration
  readonly IndexedAccessType: ts.IndexedAccessTypeNode
  readonly InterfaceDeclaration: ts.InterfaceDeclaration
  readonly MethodDeclaration: ts.MethodDeclaration
  readonly NewExpression: ts.NewExpression
  readonly NoSubstitutionTemplateLiteral: ts.NoSubstitutionTemplateLiteral
  readonly ObjectLiteralExpression: ts.ObjectLiteralExpression
  readonly PropertyAccessExpression: ts.PropertyAccessExpression
  readonly PropertyAssignment: ts.PropertyAssignment
  readonly PropertyDeclaration: ts.PropertyDeclaration
  readonly StringLiteral: ts.StringLiteral
  readonly TypeQuery: ts.TypeQueryNode
  readonly TypeReference: ts.TypeReferenceNode
  readonly VariableDeclaration: ts.VariableDeclaration
  readonly VariableStatement: ts.VariableStatement
  readonly YieldExpression: ts.YieldExpression
}

/** Declares rules. */
export const rules = (rules: Rules): Rules => rules

/** The initializer of a property of an object literal. */
export const propertyOf = (object: ts.Expression | undefined, name: string): ts.Expression | undefined => {
  if (object === undefined || !ts.isObjectLiteralExpression(object)) return undefined
  for (const property of object.properties) {
    if (property.name === undefined || property.name.getText() !== name) continue
    if (ts.isPropertyAssignment(property)) return property.initializer
    if (ts.isShorthandPropertyAssignment(property)) return property.name
  }
  return undefined
}

/** All rules, ready to be looked up. */
export interface RuleSet {
  readonly module: (module: string) => string
  readonly find: <Kind extends "names" | "calls" | "curried" | "types" | "members" | "methods">(
    kind: Kind,
    key: string,
    name: string
  ) => NonNullable<Rules[Kind]>[string][string] | undefined
  /** Whether any rule is about a member of this name: types are looked up for these only. */
  readonly isMember: (name: string) => boolean
  readonly nodes: ReadonlyMap<ts.SyntaxKind, ReadonlyArray<Rule<ts.Node>>>
}

/** Merges the rules of all files. A key has one rule only. */
export const compile = (all: ReadonlyArray<Rules>): RuleSet => {
  const modules = new Map<string, string>()
  const tables = new Map<string, unknown>()
  const memberNames = new Set<string>()
  const nodes = new Map<ts.SyntaxKind, Array<Rule<ts.Node>>>()

  const add = (map: Map<string, unknown>, key: string, value: unknown) => {
    if (!map.has(key)) return void map.set(key, value)
    console.error(`Two rules for ${key}`)
    process.exitCode = 1
  }

  for (const one of all) {
    for (const [from, to] of Object.entries(one.modules ?? {})) add(modules, from, to)
    for (const kind of ["names", "calls", "curried", "types", "members", "methods"] as const) {
      for (const [key, table] of Object.entries(one[kind] ?? {})) {
        for (const [name, rule] of Object.entries(table)) {
          add(tables, `${kind} ${key} ${name}`, rule)
          if (kind === "members" || kind === "methods") memberNames.add(name)
        }
      }
    }
    for (const [name, rule] of Object.entries(one.nodes ?? {})) {
      // By number: of a kind with several names, TypeScript gives one. Sound: the names of `one.nodes` are these.
      const kind = ts.SyntaxKind[name as keyof NodesByKind]
      const known = nodes.get(kind) ?? []
      nodes.set(kind, known)
      known.push(rule as Rule<ts.Node>) // sound: it is asked about nodes of this kind only
    }
  }

  return {
    module: (module) => modules.get(module) ?? module,
    find: (kind, key, name) => tables.get(`${kind} ${key} ${name}`) as never, // sound: added for this kind above
    isMember: (name) => memberNames.has(name),
    nodes
  }
}
