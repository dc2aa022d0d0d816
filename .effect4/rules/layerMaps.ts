/** `LayerMap`: the runtime of a layer is its context. */
import { rules } from "../convert/rules.js"

export default rules({
  methods: {
    "effect/LayerMap#LayerMap": {
      runtime: ({ args, target }, file) => {
        const map = file.name("effect/Effect", "map")
        return `${map}(${file.text(target)}.contextEffect(${file.texts(args)}), (context) => ({ context }))`
      }
    }
  }
})
