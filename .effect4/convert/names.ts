/** Names of Effect: which module a declaration, an import or an expression belongs to. */
import ts from "typescript"

/** A name of Effect 3. `name` is empty for a module's namespace itself. */
export interface Name {
  readonly module: string
  readonly name: string
}

/** What an import binds. */
export interface Binding extends Name {
  readonly symbol: ts.Symbol
  /** Imported by its subpath, as a namespace: `import * as Effect from "effect/Effect"`. */
  readonly isSubpath: boolean
  /** The name that the import gives it. */
  readonly local: string
}

/** The module of a file in a package of Effect, by the path that imports it. */
export const moduleOfFile = (path: string): string | undefined => {
  const match = /\/node_modules\/(effect|@effect\/[^/]+)\/(?:dist\/dts|dist|src)\/(.*?)(?:\.d)?\.ts$/.exec(path)
  if (match === null) return undefined
  const [, packageName = "", inside = ""] = match
  const file = inside.replace(/(^|\/)index$/, "")
  return file === "" ? packageName : `${packageName}/${file}`
}

export const isEffectSpecifier = (specifier: string): boolean => /^(effect|@effect\/[^/]+)(\/|$)/.test(specifier)

/** The specifier of an import or export of a package of Effect. */
export const effectSpecifier = (node: ts.Node): string | undefined =>
  ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier) &&
    isEffectSpecifier(node.moduleSpecifier.text)
    ? node.moduleSpecifier.text
    : undefined

const isSourceFile = (symbol: ts.Symbol): ts.SourceFile | undefined => symbol.declarations?.find(ts.isSourceFile)

/** Whether a specifier names a module of a package, not the package. */
const isSubpathOf = (specifier: string): boolean => /^(@[^/]+\/[^/]+|[^@/]+)\/./.test(specifier)

/** The bindings of a file's imports from Effect, by their local names. */
export const bindingsOf = (checker: ts.TypeChecker, file: ts.SourceFile): ReadonlyMap<string, Binding> => {
  const bindings = new Map<string, Binding>()
  const add = (name: ts.Identifier, specifier: string, isSubpath: boolean, imported = name.text) => {
    const symbol = checker.getSymbolAtLocation(name)
    if (symbol === undefined) return
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    const namespace = isSourceFile(target)
    const declaring = namespace ?? target.declarations?.[0]?.getSourceFile()
    const own = declaring && moduleOfFile(declaring.fileName)
    const module = own ?? specifier
    bindings.set(name.text, {
      symbol,
      module,
      // What a package exports of another one has the name there that the import says.
      name: namespace !== undefined ? "" : own === undefined ? imported : target.name,
      isSubpath,
      local: name.text
    })
  }
  for (const statement of file.statements) {
    const specifier = effectSpecifier(statement)
    if (specifier === undefined) continue
    const clause = (statement as ts.ImportDeclaration).importClause // sound: only imports have a specifier here
    const named = clause?.namedBindings
    if (named === undefined) continue
    if (ts.isNamespaceImport(named)) add(named.name, specifier, true)
    else {for (const element of named.elements) {
        add(element.name, specifier, isSubpathOf(specifier), (element.propertyName ?? element.name).text)
      }}
  }
  return bindings
}

/** The interfaces and classes of Effect that declare a property, as `module#Interface`. */
export const declaringTypes = (property: ts.Symbol): ReadonlyArray<string> =>
  (property.declarations ?? []).flatMap((declaration) => {
    const module = moduleOfFile(declaration.getSourceFile().fileName)
    if (module === undefined) return []
    let parent: ts.Node | undefined = declaration.parent
    while (
      parent !== undefined && !ts.isInterfaceDeclaration(parent) && !ts.isClassDeclaration(parent) &&
      !ts.isTypeAliasDeclaration(parent) && !ts.isVariableDeclaration(parent)
    ) parent = parent.parent
    return parent?.name === undefined ? [] : [`${module}#${parent.name.getText()}`]
  })
