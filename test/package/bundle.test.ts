/** Tests that a bundler can remove unused code of the library. */
import { assert, describe, it } from "@effect/vitest"
import { buildSync } from "esbuild"

describe("a bundle of a script with one call", () => {
  /** Bundles a script that uses one layer of `RateLimiter`. Returns the bundled files and the text. */
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

  it("contains no unused code", () => {
    const [files, text] = bundled("layer")
    assert.includeMembers([...files], ["src/IdentityClient.ts", "src/internal/limiter/estimator/estimator.ts"])
    for (
      const name of ["Pagination", "internal/limiter/fixed", "internal/fleet/snapshotFormat", "internal/fleet/sync"]
    ) {
      assert.notInclude(files, `src/${name}.ts`)
    }
    assert.sameMembers(files.filter((file) => file.startsWith("src/operations/")), [
      "src/operations/listActionVersions.ts"
    ])
    assert.include(files, "src/Schemas.ts")
    for (
      const name of [
        "Conflict",
        "Order",
        "array",
        "background",
        "email",
        "isUri",
        "layerUnlimited",
        "sized",
        "withHeaders"
      ]
    ) {
      assert.notMatch(text, new RegExp(`^(?:var|const|class) ${name}\\b`, "m"), name)
    }
  })

  it("contains only the rate limiter that it uses", () => {
    assert.includeMembers([...bundled("layerFixed")[0]], [
      "src/internal/limiter/queue.ts",
      "src/internal/limiter/fixed.ts"
    ])
    assert.notInclude(bundled("layerFixed")[0], "src/internal/limiter/estimator/estimator.ts")
    assert.notInclude(bundled("layerUnlimited")[0], "src/internal/limiter/queue.ts")
  })
})
