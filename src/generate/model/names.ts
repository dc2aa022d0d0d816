/** Makes names of identifiers and files from those of the document. */
/** Words that no variable can be called, and names that generated files use. */
const reserved = new Set(
  ("abstract arguments await boolean break byte case catch char class const continue debugger default delete do double else enum " +
    "eval export extends false final finally float for function goto if implements import in instanceof int interface let long " +
    "native new null package private protected public return short static super switch synchronized this throw throws transient " +
    "true try typeof undefined var void volatile while with yield async of get set type never unknown any string number symbol " +
    "object array integer list nonNull omittable oneOf open openUnion record sized uri email hostname uuid dateTime date ipv4 ipv6 index")
    .split(" ")
)

/** Names of types and values that generated files import or that TypeScript itself knows. */
const reservedTypes = new Set(
  ("Schema Schemas Operation Timestamp Array Boolean Error File Function Object Promise Record ReadonlyArray String Number Symbol " +
    "BadRequest Conflict ContentTooLarge Forbidden Gone InsufficientScope InternalServerError NotFound PaymentRequired " +
    "PreconditionFailed RateLimited ServiceUnavailable Unauthorized Unrecognized").split(" ")
)

/** Splits `get_event-streams_by_id`, `getEventStreams` and `HTTPServer` into words. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  text.normalize("NFKD").replace(/\p{M}/gu, "")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]/u)
    .filter((word) => word !== "")

const capitalize = (word: string): string => word.replace(/./u, (letter) => letter.toUpperCase())

const pascal = (words: ReadonlyArray<string>): string => words.map(capitalize).join("")

const identifier = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u

/** Words whose plural is the same, or that are used in the plural only. */
const pluralOnly = new Set(["analytics", "aws", "dns", "metadata", "series", "settings", "sms", "stats"])

/** Words whose singular ends in `e`, unlike that of `branches` and `statuses`. */
const singularInE = new Set(["caches", "causes", "clauses", "pauses", "uses", "warehouses"])

const singularOf = (word: string): string => {
  const lower = word.toLowerCase()
  if (pluralOnly.has(lower) || /(?:ss|us|is)$/.test(lower)) return word
  if (lower.endsWith("ies") && lower.length > 4) return `${word.slice(0, -3)}y`
  if (/(?:sses|xes|ches|shes|uses)$/.test(lower) && !singularInE.has(lower)) return word.slice(0, -2)
  return lower.endsWith("s") ? word.slice(0, -1) : word
}

const pluralOf = (word: string): string => {
  const lower = word.toLowerCase()
  if (pluralOnly.has(lower) || singularOf(word) !== word) return word
  if (/[^aeiou]y$/.test(lower)) return `${word.slice(0, -1)}ies`
  return /(?:s|x|ch|sh)$/.test(lower) ? `${word}es` : `${word}s`
}

/** Changes the last word of a group. */
const last = (words: ReadonlyArray<string>, change: (word: string) => string): ReadonlyArray<string> =>
  words.map((word, index) => index === words.length - 1 ? change(word) : word)

/**
 * The name of an operation from the SDK's: `client.users.get` is `getUser`, `client.actions.versions.list` is `listActionVersions`,
 * `client.clients.rotateSecret` is `rotateClientSecret` and `client.organizations.getByName` is `getOrganizationByName`.
 */
const fromGroup = (group: ReadonlyArray<string>, method: string): string => {
  const [verb = "", ...rest] = wordsOf(method)
  const [first] = rest
  const isMany = first === "All" || first === "Many"
  const isPlural = isMany || (verb === "list" && (rest.length === 0 || first === "By"))
  const all = group.map(wordsOf)
  // `users.listUsersByEmail` names its group itself.
  const named = pascal(rest).toLowerCase().startsWith(pascal(all.slice(-1).flat()).toLowerCase())
  const groups = named ? all.slice(0, -1) : all
  const nouns = groups.flatMap((words, index) =>
    last(words, isPlural && index === groups.length - 1 ? pluralOf : singularOf)
  )
  const [before, after] = isMany ? [[first], rest.slice(1)] : [[], rest]
  return verb.toLowerCase() + pascal([...before, ...nouns, ...after])
}

const camel = (text: string): string =>
  wordsOf(text).map((word, index) => index === 0 ? word.toLowerCase() : capitalize(word)).join("")

/** The names that an operation may have: from the SDK's method, from its `operationId`, and from its method and path. */
export const operationNames = ({ group, id, method, route }: {
  readonly group: ReadonlyArray<string>
  readonly method: string | undefined
  readonly id: string | undefined
  /** The method and the path, for example `GET /users/{id}`. */
  readonly route: string
}): ReadonlyArray<string> =>
  [
    ...method === undefined || group.length === 0 || wordsOf(method).length === 0 ? [] : [fromGroup(group, method)],
    ...id === undefined ? [] : [camel(id)],
    camel(route)
  ].filter((name) => identifier.test(name)).map((name) => reserved.has(name) ? `${name}_` : name)

/** The name of a schema of `components`; one that generated files use themselves gets the suffix `Schema`. */
export const schemaName = (name: string): string => {
  const words = /^\p{Lu}[\p{L}\p{N}]*$/u.test(name) ? name : pascal(wordsOf(name))
  const made = identifier.test(words) ? words : `Schema${words.replace(/\P{ID_Continue}/gu, "")}`
  return reservedTypes.has(made) ? `${made}Schema` : made
}

/** The first of a name and the same name with a number that no other is like but for case, because some file systems ignore it. */
export const freeName = (name: string, isTaken: (key: string) => boolean): string => {
  const free = (number: number): string =>
    isTaken(`${name}${number}`.toLowerCase()) ? free(number + 1) : `${name}${number}`
  return isTaken(name.toLowerCase()) ? free(2) : name
}

/** The name of the variable beside the type and the schema of this name: `UsersExportJob` gives `usersExportJob`. */
export const variableName = (name: string, taken: ReadonlyArray<string>): string => {
  const made = name.replace(/^\p{Lu}+(?=\p{Lu}\p{Ll})|^\p{Lu}+/u, (letters) => letters.toLowerCase())
  const free = (candidate: string): string => taken.includes(candidate) ? free(`${candidate}_`) : candidate
  return free(made === name || taken.includes(made) || reserved.has(made) ? `${made}Schema` : made)
}

/** Tells whether a field can be written without quotes. */
export const isIdentifier = (name: string): boolean => /^[A-Za-z_$][\w$]*$/.test(name)
