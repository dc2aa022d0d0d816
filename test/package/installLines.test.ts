/** Tests that what pages tell readers to install is pinned, fits together, and is never a package that somebody else may have published. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { effect3, effect4, type Line, lockedPackages } from "../../.ci/line.js"
import { installLines, onlyForReaders } from "../../.ci/package/installLines.js"
import { peers as effect4Peers, withPackages } from "../../.effect4/convert/page.js"
import { sentences } from "../../.effect4/pages.js"
import { guide, page, pages } from "../support/documentation.js"

const { name: own, peerDependencies, version: ownVersion }: {
  name: string
  version: string
  peerDependencies: Record<string, string>
} = JSON.parse(readFileSync("package.json", "utf8"))

const effect4Version: string = JSON.parse(readFileSync(".effect4/package.json", "utf8")).version

/** All pages, of which `.effect4` has its own. The changelog is history. */
const all = [...pages, ".effect4/README.md"].filter((path) => !path.endsWith("CHANGELOG.md"))

interface Edition {
  readonly name: string
  readonly line: Line
  readonly peers: Readonly<Record<string, string>>
  readonly tarball: string
  readonly text: (path: string) => string
}

const editions: ReadonlyArray<Edition> = [
  {
    name: "for Effect 3",
    line: effect3,
    peers: peerDependencies,
    tarball: `../${own}-${ownVersion}.tgz`,
    text: page
  },
  {
    name: "for Effect 4",
    line: effect4,
    peers: Object.fromEntries(effect4Peers),
    tarball: `../${own}-${effect4Version}.tgz`,
    text: (path) => withPackages(page(path))
  }
]

const numbers = (version: string) => version.split(/[.-]/).map(Number)

const compare = (a: string, b: string): number => {
  const [left, right] = [numbers(a), numbers(b)]
  const at = [0, 1, 2].find((index) => (left[index] ?? 0) !== (right[index] ?? 0)) ?? 0
  return (left[at] ?? 0) - (right[at] ?? 0)
}

/** Checks a version against a range of npm's. Knows the forms that peers here have. */
const satisfies = (version: string, range: string): boolean =>
  range.split("||").some((part) =>
    part.trim().split(/\s+/).every((term) => {
      const [, operator = "", least = ""] = /^(\^|~|>=|<|)v?([\d.]+)/.exec(term) ?? []
      if (term === "*" || least === "") return term === "*"
      const [major = 0, minor = 0] = numbers(least)
      const [ofMajor = 0, ofMinor = 0] = numbers(version)
      const isLeast = compare(version, least) >= 0
      if (operator === ">=") return isLeast
      if (operator === "<") return !isLeast
      if (operator === "~") return isLeast && ofMajor === major && ofMinor === minor
      if (operator === "^") return isLeast && ofMajor === major && (major > 0 || least === "0" || ofMinor === minor)
      return compare(version, least) === 0
    })
  )

const split = (word: string) => {
  const [, name = "", version = ""] = /^(@?[^@]+)@(.+)$/.exec(word) ?? []
  return { name, version }
}

interface Locked {
  readonly version: string
  readonly peerDependencies?: Record<string, string>
}

/** The peers of this version of a package, if it is in a lockfile of the line. */
const peersOf = ({ locks }: Line, name: string, version: string): Readonly<Record<string, string>> =>
  locks.flatMap((file) => {
    const { packages }: { packages: Record<string, Locked> } = JSON.parse(readFileSync(file, "utf8"))
    const entry = packages[`node_modules/${name}`]
    return entry?.version === version ? [entry.peerDependencies ?? {}] : []
  })[0] ?? {}

describe("what the test understands of ranges", () => {
  it.each<readonly [string, string, boolean]>([
    ["20.19.43", "^22.0.0 || >=24.0.0", false],
    ["22.20.5", "^22.0.0 || >=24.0.0", true],
    ["0.97.2", "^0.97.2", true],
    ["0.98.0", "^0.97.2", false],
    ["4.1.0", "^3.22.2", false],
    ["5.11.1", "^5", true]
  ])("%s in %s: %s", (version, range, expected) => assert.strictEqual(satisfies(version, range), expected))
})

for (const { line, name: edition, peers, tarball, text } of editions) {
  describe(`the install lines of the pages ${edition}`, () => {
    const found = all.flatMap((path) => installLines(text(path)).map((one) => ({ path, ...one })))
    /** The lines for the other line of the package are that one's. */
    const ofThis = found.filter(({ packages }) =>
      !packages.some((word) => word.endsWith(".tgz") && word !== tarball) && packages.every((word) => word !== "")
    )

    it("name an exact version, or the tarball", () => {
      assert.isAbove(found.length, 10)
      for (const { packages, path } of found) {
        for (const word of packages) {
          assert.match(
            word,
            new RegExp(`^\\.\\./${own}-[\\w.-]+\\.tgz$|^@?[\\w./-]+@\\d+\\.\\d+\\.\\d+$`),
            `${path}: ${word}`
          )
        }
      }
    })

    it("name the versions that the tests run with, which are in the ranges of the peers", () => {
      for (const { packages, path } of ofThis) {
        for (const word of packages.filter((word) => word !== tarball)) {
          const { name, version } = split(word)
          if (!onlyForReaders.has(word)) assert.deepStrictEqual(lockedPackages(line, name), [word], path)
          const range = peers[name]
          if (range !== undefined) assert.isTrue(satisfies(version, range), `${path}: ${word} in ${range}`)
        }
      }
    })

    it("do not contradict each other on a page", () => {
      for (const path of new Set(ofThis.map(({ path }) => path))) {
        const words = ofThis.filter((one) => one.path === path).flatMap(({ packages }) => packages)
        const versions = new Map(
          words.filter((word) => word !== tarball).map((word) => [split(word).name, split(word).version])
        )
        for (const [name, ofName] of versions) {
          for (const [peer, range] of Object.entries(peersOf(line, name, ofName))) {
            const version = versions.get(peer)
            if (version !== undefined) {
              assert.isTrue(satisfies(version, range), `${path}: ${name} needs ${peer} ${range}`)
            }
          }
        }
      }
    })

    it("come after what makes the tarball", () => {
      for (const path of new Set(ofThis.filter(({ packages }) => packages.includes(tarball)).map(({ path }) => path))) {
        assert.match(text(path), /npm pack --pack-destination \.\.|effect4 -- --pack/, path)
      }
    })
  })
}

describe("the package's own name, which nobody has registered", () => {
  /** What runs or installs a package by its name from a registry, unless it is installed. */
  const risky = new RegExp(
    `npx (?!--no-install )(?:-\\S+ )*${own}|bunx (?!--bun --no-install )(?:-\\S+ )*${own}|(?:npm:|dlx |npm exec )${own}|(?<![\\w-])(?:install|add|i) (?:-\\S+ )*${own}(?![\\w-]*\\.tgz)`
  )

  it("is neither run nor installed by that name, in pages, examples and texts of the command", () => {
    const sources = ["src", "examples"].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`)
    ).filter((path) => /\.(?:tsx?|md)$/.test(path))
    for (const path of new Set([...all, ...sources])) {
      assert.notMatch(readFileSync(path, "utf8"), risky, path)
    }
  })

  it("is risky in these forms", () => {
    for (
      const text of [
        `npx ${own}`,
        `npx -y ${own} export`,
        `bunx --bun ${own}`,
        `deno run -A npm:${own}`,
        `npm install ${own} effect`
      ]
    ) {
      assert.match(text, risky)
    }
    assert.notMatch(`npx --no-install ${own} tenant`, risky)
  })

  it("is E404 in the table of errors, with what to do", () => {
    assert.match(guide("getting-started"), /^\| `npm error code E404 .*tarball/m)
  })
})

describe("programs that npx runs", () => {
  it("are installed in the project, or in the clone", () => {
    const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(
      readFileSync("package.json", "utf8")
    )
    for (const path of all) {
      for (const [, name = ""] of page(path).matchAll(/npx (?!--no-install)(\S+)/g)) {
        assert.property(devDependencies, name.replace(/`$/, ""), path)
      }
    }
  })
})

describe("packages that the command names", () => {
  it("are pinned as on the pages", () => {
    const text = readFileSync("src/cli/commands/generate.ts", "utf8")
    const [, packages = ""] = /const packages =\s*"([^"]*)"/.exec(text) ?? []
    const words = packages.split(" ")
    assert.sameMembers(words, [...installLines(guide("custom-operations"))[0]?.packages ?? []])
    for (const word of words) assert.deepStrictEqual(lockedPackages(effect3, split(word).name), [word])
  })
})

describe("the lockfiles", () => {
  it("are there for both lines", () => {
    for (const { line } of editions) for (const lock of line.locks) assert.isTrue(existsSync(lock), lock)
  })
})

describe("the sentences for Effect 4", () => {
  it("replace sentences that a page has", () => {
    const text = [...all, ".github/CHANGELOG.md"].map(page).join("\n")
    for (const [before] of sentences) assert.include(text, before)
  })
})
