/** Colours for a terminal; plain text for a file, a pipe, or whoever has set NO_COLOR. */
const coloured = process.stdout.isTTY && !process.env["NO_COLOR"]

const paint = (code: number) => (text: string): string => coloured ? `\u001b[${code}m${text}\u001b[0m` : text

export const bold = paint(1)
export const dim = paint(2)
export const red = paint(31)
export const green = paint(32)
export const yellow = paint(33)
