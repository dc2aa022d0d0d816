/** Tests the names that operations, schemas and variables get from those of a document. */
import { assert, describe, it } from "@effect/vitest"
import { freeName, isIdentifier, operationNames, schemaName, variableName } from "../../../src/generate/model/names.js"

describe("the name of an operation", () => {
  const fromId = (id: string) => operationNames({ group: [], method: undefined, id, route: "GET /" })[0]
  const fromGroup = (group: string, method: string) =>
    operationNames({ group: group.split("."), method, id: undefined, route: "GET /" })[0]

  const ids: ReadonlyArray<readonly [id: string, name: string]> = [
    ["getUser", "getUser"],
    ["GetUser", "getUser"],
    ["get_event-streams_by_id", "getEventStreamsById"],
    ["_get  user_", "getUser"],
    ["HTTPServer", "httpServer"],
    ["getHTTPServerByID", "getHTTPServerByID"],
    ["get2FASettings", "get2FASettings"],
    ["Größe ändern", "großeAndern"],
    ["delete", "delete_"],
    ["export", "export_"],
    ["native", "native_"],
    ["list", "list_"],
    ["exporting", "exporting"]
  ]
  it("is the operationId in camel case, with an underscore if it is reserved", () => {
    assert.deepStrictEqual(ids.map(([id]) => [id, fromId(id)]), ids.map((row) => [...row]))
  })

  const groups: ReadonlyArray<readonly [group: string, method: string, name: string]> = [
    ["users", "get", "getUser"],
    ["users", "list", "listUsers"],
    ["users", "GET", "getUser"],
    ["event-streams", "create", "createEventStream"],
    ["actions.versions", "get", "getActionVersion"],
    ["actions.versions", "list", "listActionVersions"],
    ["clients", "rotateSecret", "rotateClientSecret"],
    ["organizations", "getByName", "getOrganizationByName"],
    // Many of the group
    ["users", "listByEmail", "listUsersByEmail"],
    ["users", "listRoles", "listUserRoles"],
    ["users", "getAll", "getAllUsers"],
    ["users", "deleteMany", "deleteManyUsers"],
    ["connections.keys", "deleteAllExpired", "deleteAllConnectionKeysExpired"],
    // The method names the group
    ["users", "listUsersByEmail", "listUsersByEmail"],
    ["organizations.roles", "deleteRoles", "deleteOrganizationRoles"],
    // Plurals
    ["user", "list", "listUsers"],
    ["category", "list", "listCategories"],
    ["key", "list", "listKeys"],
    ["type", "list", "listTypes"],
    ["box", "list", "listBoxes"],
    ["branch", "list", "listBranches"],
    ["brush", "list", "listBrushes"],
    ["status", "list", "listStatuses"],
    ["address", "list", "listAddresses"],
    ["metadata", "list", "listMetadata"],
    ["settings", "list", "listSettings"],
    // Singulars
    ["policies", "get", "getPolicy"],
    ["ties", "get", "getTie"],
    ["series", "get", "getSeries"],
    ["boxes", "get", "getBox"],
    ["branches", "get", "getBranch"],
    ["brushes", "get", "getBrush"],
    ["addresses", "get", "getAddress"],
    ["statuses", "get", "getStatus"],
    ["caches", "get", "getCache"],
    ["causes", "get", "getCause"],
    ["breaches", "get", "getBreach"],
    ["status", "get", "getStatus"],
    ["address", "get", "getAddress"],
    ["analysis", "get", "getAnalysis"],
    ["cachesize", "get", "getCachesize"],
    ["analytics", "get", "getAnalytics"],
    ["aws", "get", "getAws"],
    ["dns", "get", "getDns"],
    ["DNS", "get", "getDNS"],
    ["sms", "get", "getSms"],
    ["stats", "get", "getStats"],
    ["tenants.settings", "update", "updateTenantSettings"],
    // Only the last word of a group changes
    ["users-exports", "create", "createUsersExport"],
    // Names that are reserved, or have no words
    ["time", "date", "dateTime_"],
    ["-", "delete", "delete_"]
  ]
  it("is made of the SDK's group and method, with plurals for many", () => {
    assert.deepStrictEqual(
      groups.map(([group, method]) => [group, method, fromGroup(group, method)]),
      groups.map((row) => [...row])
    )
  })

  const cases: ReadonlyArray<
    readonly [from: { group?: ReadonlyArray<string>; method?: string; id?: string }, names: ReadonlyArray<string>]
  > = [
    [{ group: ["users"], method: "get", id: "listThings" }, ["getUser", "listThings", "getThingsByIdParts"]],
    [{ method: "get", id: "listThings" }, ["listThings", "getThingsByIdParts"]],
    [{ group: ["users"], id: "listThings" }, ["listThings", "getThingsByIdParts"]],
    [{ group: ["users"] }, ["getThingsByIdParts"]],
    [{}, ["getThingsByIdParts"]],
    [{ id: "1user" }, ["getThingsByIdParts"]],
    [{ id: "user৴" }, ["getThingsByIdParts"]],
    [{ id: "-\"-" }, ["getThingsByIdParts"]],
    [{ group: ["users"], method: "-" }, ["getThingsByIdParts"]],
    [{ group: ["users"], method: "1get" }, ["getThingsByIdParts"]]
  ]
  it("is made of the operationId unless there are both a group and a method, or else of its method and path", () => {
    const route = "GET /things/by-{id}/_parts.%"
    assert.deepStrictEqual(
      cases.map(([{ group = [], id, method }]) => operationNames({ group, id, method, route })),
      cases.map(([, names]) => names)
    )
    const names = operationNames({ group: [], id: undefined, method: undefined, route: "DELETE /" })
    assert.deepStrictEqual(names, ["delete_"])
  })
})

describe("the name of a schema", () => {
  const schemas: ReadonlyArray<readonly [name: string, made: string]> = [
    ["User", "User"],
    ["HTTPServer", "HTTPServer"],
    ["Élan2", "Élan2"],
    ["user", "User"],
    ["userExport", "UserExport"],
    ["élan2", "Elan2"],
    ["list-of.things", "ListOfThings"],
    ["List-of", "ListOf"],
    ["_user", "User"],
    ["Schema", "SchemaSchema"],
    ["BadRequest", "BadRequestSchema"],
    ["PreconditionFailed", "PreconditionFailedSchema"],
    ["Unauthorized", "UnauthorizedSchema"],
    ["not-found", "NotFoundSchema"],
    ["Page«User»", "PageUser"],
    // No identifier can be made of these alone
    ["1st", "Schema1st"],
    ["A৴", "SchemaA"],
    ["--", "SchemaSchema"]
  ]
  it("is in pascal case, with a suffix if generated files use it", () => {
    assert.deepStrictEqual(
      schemas.map(([name]) => [name, schemaName(name)]),
      schemas.map((row) => [...row])
    )
  })
})

describe("the name of a variable", () => {
  const variables: ReadonlyArray<readonly [name: string, taken: ReadonlyArray<string>, variable: string]> = [
    ["User", [], "user"],
    ["UsersExportJob", [], "usersExportJob"],
    ["HTTPServer", [], "httpServer"],
    ["HTTP", [], "http"],
    ["UserHTTPServer", [], "userHTTPServer"],
    ["日本", [], "日本Schema"],
    ["日本HTTPServer", [], "日本HTTPServerSchema"],
    ["Delete", [], "deleteSchema"],
    ["User", ["user"], "userSchema"],
    ["User", ["user", "userSchema"], "userSchema_"],
    ["User", ["user", "userSchema", "userSchema_"], "userSchema__"],
    ["User", ["users"], "user"]
  ]
  it("begins in lower case, and differs from reserved words and from names that are taken", () => {
    assert.deepStrictEqual(
      variables.map(([name, taken]) => [name, taken, variableName(name, taken)]),
      variables.map((row) => [...row])
    )
  })
})

it("writes a field without quotes if its name is an identifier", () => {
  const names = ["a", "A1", "_", "$ref", "a_b$", "", "1a", "a-b", "a b", "é", " a", "a\n"]
  assert.deepStrictEqual(names.filter(isIdentifier), ["a", "A1", "_", "$ref", "a_b$"])
})

it("gives a name a number if another one is like it but for case", () => {
  const taken = new Set(["user", "user2", "thing"])
  const free = (name: string) => freeName(name, (key) => taken.has(key))
  assert.deepStrictEqual(["User", "Thing", "Other"].map(free), ["User3", "Thing2", "Other"])
})
