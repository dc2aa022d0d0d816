/** Colours for a terminal; plain text for a file or a pipe, or if NO_COLOR is set. */
const paint = (code: number, stream: { readonly isTTY?: boolean } = process.stdout) => (text: string): string =>
  stream.isTTY === true && !process.env["NO_COLOR"] ? `\u001b[${code}m${text}\u001b[0m` : text

export const bold = paint(1)
export const dim = paint(2)
export const red = paint(31)
export const green = paint(32)
export const yellow = paint(33)

/** Red for the standard error output. */
export const redOnStderr = paint(31, process.stderr)
