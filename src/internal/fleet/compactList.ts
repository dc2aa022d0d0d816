/** Writes objects as lists of short numbers: names of fields and full times would take most of the room. */
import * as Schema from "effect/Schema"

/** How a field is written; `at` is the time at which the whole value was. */
export interface Code<A> {
  readonly encode: (value: A, at: number) => number | null
  readonly decode: (written: number | null, at: number) => A
  /** It may be written as `null`. */
  readonly isNullable: boolean
}

const rounded = (value: number): number => Math.round(value * 1e6) / 1e6

/** A number that is never infinite. */
export const number: Code<number> = { encode: rounded, decode: Number, isNullable: false }

/** A number of which six digits are exact enough, however small it is. */
export const rate: Code<number> = { ...number, encode: (value) => Number(value.toPrecision(6)) }

/** A time, as the milliseconds since then. */
export const time: Code<number> = {
  encode: (value, at) => rounded(at - value),
  decode: (written, at) => at - Number(written),
  isNullable: false
}

export const flag: Code<boolean> = { encode: Number, decode: Boolean, isNullable: false }

/** A field that may also be `absent`: an infinity or `undefined`. */
export const optional = <A, B>(code: Code<A>, absent: B): Code<A | B> => ({
  encode: (value, at) => value === absent ? null : code.encode(value as A, at), // sound: only `absent` is a `B`
  decode: (written, at) => written === null ? absent : code.decode(written, at),
  isNullable: true
})

/** Makes the format of objects whose fields are written one after the other. */
export const list = <A extends object>(codes: { readonly [Name in keyof Required<A>]: Code<A[Name]> }) => {
  // Sound: each code is that of its field.
  const fields = Object.entries(codes) as unknown as ReadonlyArray<[name: keyof A, code: Code<A[keyof A]>]>
  return {
    // One check in place of a schema of each number: a visit to the shared store reads all of them.
    schema: Schema.declare((written): written is ReadonlyArray<number | null> =>
      Array.isArray(written) && written.length === fields.length &&
      fields.every(([, { isNullable }], nth) => Number.isFinite(written[nth]) || (isNullable && written[nth] === null))
    ),
    encode: (value: A, at: number): ReadonlyArray<number | null> =>
      fields.map(([name, code]) => code.encode(value[name], at)),
    decode: (written: ReadonlyArray<number | null>, at: number): A =>
      // Sound: it has each of the fields.
      Object.fromEntries(fields.map(([name, code], nth) => [name, code.decode(written[nth] ?? null, at)])) as A
  }
}
