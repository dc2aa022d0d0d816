/**
 * Exports the core: a namespace for each module, and every operation by its name. Each module is also a subpath of its own,
 * which compilers need to name inferred types in declaration files.
 */
export * as Actions from "./Actions.js"
export * as Deliveries from "./Deliveries.js"
export * as Endpoint from "./Endpoint.js"
export * as Errors from "./Errors.js"
export * as Exports from "./Exports.js"
export * as IdentityClient from "./IdentityClient.js"
export * as Operation from "./Operation.js"
export * from "./operations/index.js"
export * as Pagination from "./Pagination.js"
export * as RateLimiter from "./RateLimiter.js"
export * as Redelivery from "./Redelivery.js"
export * as Retry from "./Retry.js"
export * as Timestamp from "./Timestamp.js"
export * as TokenProvider from "./TokenProvider.js"
