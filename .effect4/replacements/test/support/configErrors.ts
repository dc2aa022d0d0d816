/** What errors of settings say. */

/** Gives the settings that a text of an error names, each with what is wrong with it. */
export const textOf = (error: unknown): string =>
  // The cause of an error that is printed says the same.
  [...(String(error).split("[cause]")[0] ?? "").matchAll(/([^\n]+)\n\s+at \["(\w+)"\]/g)]
    .map(([, line = "", name]) => {
      const message = line.replace(/^.*SchemaError\(/, "").trim()
      return `${name}${message.startsWith("is missing") ? " " : ": "}${message}`
    })
    .join("; ")
