/** Random identifiers in the service's alphabet. */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Base58: without `0`, `O`, `I` and `l`, which look alike. */
const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

const character = Effect.map(Random.nextIntBetween(0, alphabet.length), (index) => alphabet.charAt(index))

export const randomId = (length: number): Effect.Effect<string> =>
  Effect.map(Effect.replicateEffect(character, length), (characters) => characters.join(""))
