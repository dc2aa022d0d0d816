/** Tells values that consist of others from those that a request cannot express as they are. */

/** The message of a number that no request can express. JSON would turn it into `null`, which clears a field. */
export const notFiniteMessage = "expected a finite number"

/** Recognizes an object that JSON replaces by what its `toJSON` gives, such as a `Date`. */
export const hasToJson = (value: object): value is { readonly toJSON: () => unknown } =>
  "toJSON" in value && typeof value.toJSON === "function"

/** Recognizes lists, and objects that are no more than their fields, of whatever class. A `Set` keeps its content elsewhere. */
export const isComposite = (value: object): boolean =>
  Array.isArray(value) || Object.prototype.toString.call(value) === "[object Object]"
