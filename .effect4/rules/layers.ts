/** Layers: what was built anew is built anew, and the runtime of a layer is its context. */
import type ts from "typescript"
import type { File } from "../convert/file.js"
import { rules } from "../convert/rules.js"

/** Effect 4 would give the services that are there already, if the program was provided with the same layer. */
const fresh = (layer: ts.Expression, c: File): string => `${c.name("effect/Layer", "fresh")}(${c.text(layer)})`

export default rules({
  calls: {
    "effect/Layer": {
      build: ({ args: [layer] }, c) => layer && `${c.name("effect/Layer", "build")}(${fresh(layer, c)})`,
      buildWithScope: ({ args: [layer, scope] }, c) =>
        layer && scope && `${c.name("effect/Layer", "buildWithScope")}(${fresh(layer, c)}, ${c.text(scope)})`
    }
  },
  methods: {
    "effect/LayerMap#LayerMap": {
      runtime: ({ args, target }, c) => {
        const map = c.name("effect/Effect", "map")
        return `${map}(${c.text(target)}.contextEffect(${c.texts(args)}), (context) => ({ context }))`
      }
    }
  }
})
