/** Formats tables as plain text. */

/** Separates columns by two blanks; numbers are right-aligned. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string | number>>): string => {
  const [first = []] = rows
  const widths = first.map((_, column) => Math.max(...rows.map((row) => String(row[column] ?? "").length)))
  return rows.map((row) =>
    row.map((cell, column) =>
      typeof cell === "number" ? String(cell).padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)
    ).join("  ").trimEnd()
  ).join("\n")
}
