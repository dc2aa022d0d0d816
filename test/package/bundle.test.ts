/** What a bundler makes of the sources: what is not used is not in the bundle. */
import { assert, describe, it } from "@effect/vitest"
import { buildSync } from "esbuild"

describe("a bundle of a script of one call", () => {
  /** The files that something of is in it, and what; it names this of the limiter. */
  const bundled = (limiter: string): readonly [files: ReadonlyArray<string>, text: string] => {
    const { metafile, outputFiles: [output] } = buildSync({
      stdin: {
        contents: `
import { layer } from "./IdentityClient.js"
import { listActionVersions } from "./index.js"
import { ${limiter} as limiter } from "./RateLimiter.js"
import { layerBearer } from "./TokenProvider.js"
export const used = [layer, limiter, layerBearer, listActionVersions]`,
        resolveDir: "src"
      },
      bundle: true,
      format: "esm",
      packages: "external",
      write: false,
      metafile: true
    })
    const { inputs = {} } = Object.values(metafile.outputs)[0] ?? {}
    const files = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file)
    return [files, output?.text ?? ""]
  }

  it("holds nothing that it does not use", () => {
    const [files, text] = bundled("layer")
    assert.includeMembers([...files], ["src/IdentityClient.ts", "src/internal/limiter/estimator.ts"])
    for (const name of ["Pagination", "internal/limiter/fixed", "internal/fleet/snapshot", "internal/fleet/sync"]) {
      assert.notInclude(files, `src/${name}.ts`)
    }
    assert.sameMembers(files.filter((file) => file.startsWith("src/operations/")), [
      "src/operations/schemas.ts",
      "src/operations/listActionVersions.ts"
    ])
    for (const name of ["Conflict", "EventId", "Order", "background", "layerUnlimited", "status", "withHeaders"]) {
      assert.notMatch(text, new RegExp(`^(?:var|const|class) ${name}\\b`, "m"), name)
    }
  })

  it("holds no limiter but the one that it uses", () => {
    assert.includeMembers([...bundled("layerFixed")[0]], [
      "src/internal/limiter/queue.ts",
      "src/internal/limiter/fixed.ts"
    ])
    assert.notInclude(bundled("layerFixed")[0], "src/internal/limiter/estimator.ts")
    assert.notInclude(bundled("layerUnlimited")[0], "src/internal/limiter/queue.ts")
  })
})
