/** `Context`: tags are services; a class names itself before its key. */
import { rules } from "../convert/rules.js"

const context = "effect/Context"

export default rules({
  curried: {
    [context]: {
      Tag: ({ levels: [id, self] }, file) =>
        id && self && `${file.name(context, "Service")}<${file.texts(self.typeArgs)}>()(${file.texts(id.args)})`
    },
    "effect/Effect": {
      Tag: ({ levels: [id, self] }, file) =>
        id && self && `${file.name(context, "Service")}<${file.texts(self.typeArgs)}>()(${file.texts(id.args)})`
    }
  },
  calls: {
    [context]: {
      GenericTag: ({ args, typeArgs }, file) => {
        const types = typeArgs.length === 0 ? "" : `<${file.texts(typeArgs)}>`
        return `${file.name(context, "Service")}${types}(${file.texts(args)})`
      }
    }
  },
  types: {
    [context]: {
      Tag: ({ typeArguments = [] }, file) => `${file.typeName(context, "Key")}<${file.texts(typeArguments)}>`,
      // A tag's class has the type of its service.
      "Tag.Service": ({ typeArguments: [tag] = [] }, file) => tag && `${file.text(tag)}["Service"]`
    }
  },
  nodes: {
    // `SharedStore["Type"]`, the service of a class.
    IndexedAccessType: ({ indexType, objectType }, file) =>
      indexType.getText() === "\"Type\"" && file.isType(objectType, "effect/Context#TagClassShape")
        ? `${file.text(objectType)}["Service"]`
        : undefined
  }
})
