/** What errors of settings say. */

/** Gives the settings that a text of an error names, each with what is wrong with it. */
export const textOf = (error: unknown): string =>
  [...String(error).matchAll(/\((Missing|Invalid) data at (\w+): "(.*?)"\)/g)]
    .map(([, kind, name, message]) => `${name}${kind === "Missing" ? " is missing" : ""}: ${message}`)
    .join("; ")
