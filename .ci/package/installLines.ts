/** The lines of pages that install packages. */

/** A line that installs packages, as a shell takes it. */
export interface InstallLine {
  readonly line: string
  /** What it installs: `name@version`, or the path of a tarball. */
  readonly packages: ReadonlyArray<string>
}

/** Returns the lines of a page, or of any text, that install packages. */
export const installLines = (text: string): ReadonlyArray<InstallLine> =>
  Array.from(
    text.replace(/\\\n\s*/g, "").matchAll(
      /\b(?:npm (?:install|i|add)|pnpm (?:add|install)|yarn add|bun add) [^\n`#|"]+/g
    ),
    ([found]) => {
      const line = found.trim()
      return { line, packages: line.split(" ").slice(2).filter((word) => !word.startsWith("-")) }
    }
  )

/** Packages that no lockfile has, or in another version than readers need: only `npm run test:pack` installs these. */
export const onlyForReaders: ReadonlySet<string> = new Set([
  "@types/ws@8.18.1", // named by the platform's declarations
  "@effect/opentelemetry@4.1.0", // the tests of the line for Effect 4 do without
  "@types/node@22.20.5" // vitest 5 refuses the types of Node 20
])
