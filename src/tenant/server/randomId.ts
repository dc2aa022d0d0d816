/** Identifiers as the service makes them: a prefix and random letters and digits. */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Base58: no `0`, `O`, `I` or `l`, which look alike. */
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

const character = Effect.map(Random.nextIntBetween(0, alphabet.length), (index) => alphabet.charAt(index))

export const make = (prefix: string, length: number): Effect.Effect<string> =>
  Effect.map(Effect.all(Array.makeBy(length, () => character)), (characters) => prefix + characters.join(""))
