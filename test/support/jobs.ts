/** Jobs in memory over services of handlers, one for each tenant. */
import { Layer } from "effect"
import type { IdentityClient } from "../../src/index.js"
import * as Jobs from "../../src/Jobs.js"

/** Provides jobs whose tenants have these services. Other tenants have none. */
export const over = (
  tenants: Readonly<Record<string, { readonly layer: Layer.Layer<IdentityClient.IdentityClient> }>>,
  options: Jobs.RunOptions = {}
) =>
  Jobs.layerMemory(options).pipe(
    Layer.provide(Jobs.layerTenants((tenant) => {
      const service = tenants[tenant]
      return service === undefined ? Layer.fail({ _tag: "NoTenant", message: `no tenant ${tenant}` }) : service.layer
    }))
  )
