/** The lists that majors 5 to 7 of the vendor's SDK share with the embedded tenant. */
import * as Tenant from "../../../src/Tenant.js"
import { type Sdk, Sdk5 } from "../../support/sdkMajors.js"

const { actions: [action], profiles: [profile], streams: [stream] } = Tenant.demo

export interface List {
  /** What the tenant has at the start. */
  readonly seed?: (ids: ReadonlyArray<string>) => Tenant.Seed
  /** The field of a page that has the items, and the field of an item that has the id, if the operation is generated. */
  readonly items?: string
  readonly id?: string
  /** The first page, of this size or of the SDK's default. */
  readonly list: (sdk: Sdk, size?: number) => Promise<AsyncIterable<object>>
}

const numbered = (per_page: number | undefined) => per_page === undefined ? {} : { per_page }
const checkpointed = (take: number | undefined) => take === undefined ? {} : { take }

/** Each list by the name of its operation. */
export const lists: Readonly<Record<string, List>> = {
  listActions: {
    seed: (ids) => ({ actions: ids.map((id) => ({ ...action, id })) }),
    list: (sdk, size) => sdk.actions.list(numbered(size))
  },
  listActionVersions: {
    seed: (ids) => ({ actions: [{ ...action, versions: ids.map((id) => ({ ...action.versions[0], id })) }] }),
    list: (sdk, size) => sdk.actions.versions.list(action.id, numbered(size))
  },
  listTokenExchangeProfiles: {
    seed: (ids) => ({ profiles: ids.map((id) => ({ ...profile, id })) }),
    list: (sdk, size) => sdk.tokenExchangeProfiles.list(checkpointed(size))
  },
  listEventStreams: {
    seed: (ids) => ({ streams: ids.map((id) => ({ ...stream, id, events: [] })) }),
    list: (sdk, size) => sdk.eventStreams.list(checkpointed(size))
  },
  listDeliveries: {
    seed: (ids) => ({
      streams: [{ ...stream, events: ids.map((id) => ({ id, state: "failed" })) }]
    }),
    list: async (sdk, size) => {
      if (!(sdk instanceof Sdk5)) return sdk.eventStreams.deliveries.list(stream.id, checkpointed(size))
      // Major 5 has no iterator for deliveries, and takes the page for a list: its callers follow `next`.
      return (async function*() {
        let from: string | undefined
        do {
          const request = { ...checkpointed(size), ...(from !== undefined && { from }) }
          const { deliveries, next }: { deliveries: ReadonlyArray<object>; next?: string } =
            (await sdk.eventStreams.deliveries.list(stream.id, request)) as never
          yield* deliveries
          from = next
        } while (from !== undefined)
      })()
    }
  },
  listClients: { items: "clients", id: "client_id", list: (sdk, size) => sdk.clients.list(numbered(size)) },
  listRoles: { items: "roles", list: (sdk, size) => sdk.roles.list(numbered(size)) },
  listRolePermissions: {
    items: "permissions",
    id: "permission_name",
    list: (sdk, size) => sdk.roles.permissions.list("rol_1", numbered(size))
  },
  listConnections: { items: "connections", list: (sdk, size) => sdk.connections.list(checkpointed(size)) },
  listLogs: { items: "logs", id: "log_id", list: (sdk, size) => sdk.logs.list(numbered(size)) },
  listActionModules: { items: "modules", list: (sdk, size) => sdk.actions.modules.list(numbered(size)) }
}
