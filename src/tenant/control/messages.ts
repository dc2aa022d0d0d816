/** Names that the control interface, the live page and the command line share, free of imports that a browser would load. */
import type { Issue } from "../../Errors.js"

/** The header that carries the key. Every request below `/_tenant/` needs it, the stream of events, too. */
export const keyHeader = "x-tenant-key"

/** A key that is hard to guess, and may stand in an address as it is. */
export const keyPattern = /^[\w.~-]{16,}$/

/** Names a key that is chosen, and easy to guess. */
export const keyIssuesOf = (key: string | undefined): ReadonlyArray<Issue> =>
  key === undefined || keyPattern.test(key)
    ? []
    : [{ path: "control.key", message: "expected at least 16 letters, digits or any of . _ ~ -" }]

/** The fragment of the page's address that holds the key: `/#key=…`. No browser sends a fragment to a server. */
export const keyFragment = "key"

/** Stands in place of a secret, unless secrets are asked for by `?secrets=include`. */
export const masked = "<masked>"
