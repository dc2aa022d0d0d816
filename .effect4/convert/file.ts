/** Converts one file: renders its tree, where each node is given by the first rule that applies to it. */
import ts from "typescript"
import { Imports } from "./imports.js"
import { type Binding, bindingsOf, declaringTypes, effectSpecifier, moduleOfFile, type Name } from "./names.js"
import type { Call, RuleSet } from "./rules.js"

/** Stands where the imports go, until all are known. */
const importsMark = "\u0000"

export class File {
  readonly path: string
  readonly source: ts.SourceFile
  readonly checker: ts.TypeChecker
  readonly #rules: RuleSet
  readonly #bindings: ReadonlyMap<string, Binding>
  readonly #imports: Imports

  constructor(path: string, source: ts.SourceFile, checker: ts.TypeChecker, rules: RuleSet) {
    this.path = path
    this.source = source
    this.checker = checker
    this.#rules = rules
    this.#bindings = bindingsOf(checker, source)
    this.#imports = new Imports(declaredNames(source, this.#bindings), this.#bindings.values())
  }

  /** The text of the converted file. */
  convert(): string {
    const { text } = this.source
    let out = ""
    let at = 0
    let hasMark = false
    for (const statement of this.source.statements) {
      const start = statement.getStart(this.source)
      const before = text.slice(at, start)
      at = statement.end
      if (effectSpecifier(statement) === undefined || isForSideEffect(statement)) {
        out += before + this.text(statement)
      } else if (!hasMark) {
        out += before + importsMark
        hasMark = true
      } else if (before.trim() !== "") {
        out += before
      }
    }
    out += text.slice(at)
    const imports = this.#imports.print()
    if (hasMark) {
      return imports === ""
        ? out.replace(new RegExp(`${importsMark}\\n*`), "")
        : out.replace(importsMark, () => imports)
    }
    return imports === "" ? out : insertImports(out, imports)
  }

  /** The converted text of a node. */
  text(node: ts.Node): string {
    return this.#replaced(node) ?? this.children(node)
  }

  texts(nodes: ReadonlyArray<ts.Node>): string {
    return nodes.map((node) => this.text(node)).join(", ")
  }

  /** The text of a node whose children are converted, but not the node itself. */
  children(node: ts.Node): string {
    const { text } = this.source
    let out = ""
    let at = node.getStart(this.source)
    ts.forEachChild(node, (child) => {
      const start = child.getStart(this.source)
      if (start < at) return
      out += text.slice(at, start) + this.text(child)
      at = child.end
    })
    return out + text.slice(at, node.end)
  }

  /** A name of a module of Effect 4, by this file's local name for the module; adds its import. */
  name(module: string, name: string): string {
    return `${this.#imports.namespace(module, false, this.#bindingTo(module))}.${name}`
  }

  typeName(module: string, name: string): string {
    return `${this.#imports.namespace(module, true, this.#bindingTo(module))}.${name}`
  }

  /** The name of Effect 3 to which an expression or an entity name leads. */
  nameOf(node: ts.Node): Name | undefined {
    const binding = this.#bindingOf(node)
    if (binding !== undefined) return binding
    if (!ts.isPropertyAccessExpression(node) && !ts.isQualifiedName(node)) return undefined
    const left = this.nameOf(ts.isQualifiedName(node) ? node.left : node.expression)
    if (left === undefined) return undefined
    const right = (ts.isQualifiedName(node) ? node.right : node.name).text
    return { module: left.module, name: left.name === "" ? right : `${left.name}.${right}` }
  }

  /** Whether a node is a name of Effect 3. */
  isName(node: ts.Node, module: string, name: string): boolean {
    const found = this.nameOf(node)
    return found !== undefined && found.module === module && found.name === name
  }

  typeOf(node: ts.Node): ts.Type {
    return this.checker.getTypeAtLocation(node)
  }

  /** Whether a node's type, or each member of its union, is declared by one of these, `module#Interface`. */
  isType(node: ts.Node, ...declarations: ReadonlyArray<string>): boolean {
    return this.isTypeFrom(this.typeOf(node), declarations)
  }

  isTypeFrom(type: ts.Type, declarations: ReadonlyArray<string>): boolean {
    const named = (symbol: ts.Symbol | undefined): boolean =>
      symbol?.declarations?.some((declaration) => {
        const module = moduleOfFile(declaration.getSourceFile().fileName)
        return module !== undefined && declarations.includes(`${module}#${symbol.name}`)
      }) ?? false
    if (named(type.aliasSymbol)) return true
    if (type.isUnion()) return type.types.every((one) => this.isTypeFrom(one, declarations))
    if (type.isIntersection()) return type.types.some((one) => this.isTypeFrom(one, declarations))
    if (named(type.symbol)) return true
    return type.isClassOrInterface() &&
      (this.checker.getBaseTypes(type).some((base) => this.isTypeFrom(base, declarations)))
  }

  #bindingOf(node: ts.Node): Binding | undefined {
    if (!ts.isIdentifier(node)) return undefined
    const binding = this.#bindings.get(node.text)
    if (binding === undefined) return undefined
    const symbol = ts.isShorthandPropertyAssignment(node.parent)
      ? this.checker.getShorthandAssignmentValueSymbol(node.parent)
      : this.checker.getSymbolAtLocation(node)
    return symbol === binding.symbol ? binding : undefined
  }

  /** How the file imports what became a module of Effect 4. */
  #bindingTo(module: string): Binding | undefined {
    for (const binding of this.#bindings.values()) {
      if (binding.name === "" && this.#rules.module(binding.module) === module) return binding
    }
    return undefined
  }

  #replaced(node: ts.Node): string | undefined {
    for (const rule of this.#rules.nodes.get(node.kind) ?? []) {
      const text = rule(node, this)
      if (text !== undefined) return text
    }
    if (ts.isCallExpression(node)) return this.#replacedCall(node)
    if (ts.isTypeReferenceNode(node)) {
      const name = this.nameOf(node.typeName)
      return name && this.#rules.find("types", name.module, name.name)?.(node, this)
    }
    if (ts.isShorthandPropertyAssignment(node)) {
      const text = this.text(node.name)
      return text === node.name.text ? undefined : `${node.name.text}: ${text}`
    }
    if (ts.isQualifiedName(node) || ts.isPropertyAccessExpression(node)) {
      const name = this.nameOf(node)
      return (name && this.#rename(node, name)) ??
        (ts.isPropertyAccessExpression(node) ? this.#replacedMember(node) : undefined)
    }
    const binding = this.#bindingOf(node)
    return binding && this.#local(node, binding)
  }

  /** What an identifier that an import binds is called now. */
  #local(node: ts.Node, binding: Binding): string {
    const isType = isInType(node)
    const module = this.#rules.module(binding.module)
    if (binding.name === "") return this.#imports.namespace(module, isType, binding)
    const to = this.#rules.find("names", binding.module, binding.name)
    if (to === undefined) return this.#imports.named(module, binding.name, isType, binding)
    const [other, name] = to.includes("#") ? splitName(to) : [module, to]
    return other === module
      ? this.#imports.named(module, name, isType, binding)
      : `${this.#imports.namespace(other, isType, this.#bindingTo(other))}.${name}`
  }

  #rename(node: ts.QualifiedName | ts.PropertyAccessExpression, { module, name }: Name): string | undefined {
    const to = this.#rules.find("names", module, name)
    if (to === undefined) return undefined
    const [target, renamed] = to.includes("#") ? splitName(to) : [this.#rules.module(module), to]
    return isInType(node) ? this.typeName(target, renamed) : this.name(target, renamed)
  }

  #replacedCall(node: ts.CallExpression): string | undefined {
    const levels = levelsOf(node)
    const root = levels[0]!.node.expression
    const name = this.nameOf(root)
    if (name !== undefined) {
      const text = levels.length > 1
        ? this.#rules.find("curried", name.module, name.name)?.({ node, levels }, this)
        : this.#rules.find("calls", name.module, name.name)?.(levels[0]!, this)
      if (text !== undefined) return text
    }
    if (levels.length > 1 || !ts.isPropertyAccessExpression(root) || !this.#rules.isMember(root.name.text)) return
    for (const type of this.#typesDeclaring(root)) {
      const text = this.#rules.find("methods", type, root.name.text)?.(
        { ...levels[0]!, target: root.expression },
        this
      )
      if (text !== undefined) return text
    }
    return undefined
  }

  #replacedMember(node: ts.PropertyAccessExpression): string | undefined {
    if (!this.#rules.isMember(node.name.text)) return undefined
    for (const type of this.#typesDeclaring(node)) {
      const rule = this.#rules.find("members", type, node.name.text)
      if (rule === undefined) continue
      if (typeof rule !== "string") return rule(node, this)
      return this.text(node.expression) + this.source.text.slice(node.expression.end, node.name.getStart()) + rule
    }
    return undefined
  }

  #typesDeclaring(node: ts.PropertyAccessExpression): ReadonlyArray<string> {
    const symbol = this.checker.getSymbolAtLocation(node.name)
    return symbol === undefined ? [] : declaringTypes(symbol)
  }
}

const splitName = (to: string): [string, string] => [to.slice(0, to.indexOf("#")), to.slice(to.indexOf("#") + 1)]

const levelsOf = (node: ts.CallExpression): ReadonlyArray<Call> => {
  const call = { node, args: node.arguments, typeArgs: node.typeArguments ?? [] }
  return ts.isCallExpression(node.expression) ? [...levelsOf(node.expression), call] : [call]
}

/** Whether a name is used as a type only. */
const isInType = (node: ts.Node): boolean => {
  let entity = node
  while (ts.isQualifiedName(entity.parent) || ts.isPropertyAccessExpression(entity.parent)) entity = entity.parent
  const { parent } = entity
  if (ts.isExpressionWithTypeArguments(parent)) {
    return !(ts.isClassLike(parent.parent.parent) && (parent.parent as ts.HeritageClause).token === // sound: its parent
        ts.SyntaxKind.ExtendsKeyword)
  }
  return ts.isTypeNode(parent) || ts.isTypeQueryNode(parent)
}

const isForSideEffect = (node: ts.Statement): boolean => ts.isImportDeclaration(node) && node.importClause === undefined

/** Names of the language that modules of Effect have, too. */
const globals = new Set(["Array", "Boolean", "Date", "Function", "Number", "Record", "RegExp", "String", "Symbol"])

/** The names that a file declares itself, or uses as the language's own. */
const declaredNames = (source: ts.SourceFile, bindings: ReadonlyMap<string, Binding>): ReadonlySet<string> => {
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    const { name } = node as { readonly name?: ts.Node } & ts.Node // sound: a property that declarations have
    if (
      name !== undefined && ts.isIdentifier(name) && !bindings.has(name.text) && !ts.isPropertyAccessExpression(node) &&
      !ts.isPropertyAssignment(node) && !ts.isPropertySignature(node)
    ) names.add(name.text)
    if (ts.isIdentifier(node) && globals.has(node.text) && !bindings.has(node.text) && !isMemberName(node)) {
      names.add(node.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return names
}

const isMemberName = (node: ts.Identifier): boolean => {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) return parent.name === node
  return ts.isQualifiedName(parent) && parent.right === node
}

/** Puts imports behind the comment at the beginning of a file. */
const insertImports = (text: string, imports: string): string => {
  const [comment = ""] = /^(#![^\n]*\n)?(\/\*\*[\s\S]*?\*\/\n)?/.exec(text) ?? []
  return `${comment}${imports}\n${text.slice(comment.length)}`
}
