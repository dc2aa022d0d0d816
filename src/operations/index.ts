/** Exports every operation, in the order of the contract. */
export * from "./createUsersExport.js"
export * from "./updateTokenExchangeProfile.js"
export * from "./listActionVersions.js"
export * from "./redeliverEvent.js"
export * from "./deleteEventStream.js"
