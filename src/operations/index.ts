/** The operations of the contract, in its order. A new one is a line here. */
export * from "./createUsersExport.js"
export * from "./updateTokenExchangeProfile.js"
export * from "./listActionVersions.js"
export * from "./redeliverEvent.js"
export * from "./deleteEventStream.js"
