/** Random numbers of a seed. Each purpose has a stream of its own, so that a draw less for one changes no other. */

/** Numbers from 0 to 1 that only the seed and the words decide (mulberry32 on an FNV hash). */
export const stream = (seed: number, ...words: ReadonlyArray<string | number>): () => number => {
  let state = 0x811c9dc5
  for (const char of `${seed}/${words.join("/")}`) state = Math.imul(state ^ char.charCodeAt(0), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** The least and the greatest of some numbers. */
export type Range = readonly [least: number, most: number]

/** Draws values from a stream. */
export class Draw {
  readonly next: () => number

  constructor(seed: number, ...words: ReadonlyArray<string | number>) {
    this.next = stream(seed, ...words)
  }

  /** A whole number; both ends are possible. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  /** A whole number whose order of magnitude is uniform. */
  magnitude([least, most]: Range): number {
    if (least >= most) return least
    return Math.round(Math.exp(Math.log(least + 1) + this.next() * Math.log((most + 1) / (least + 1))) - 1)
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  oneOf<const A>(...choices: ReadonlyArray<A>): A {
    return choices[this.between(0, choices.length - 1)]! // sound: it has an element
  }

  /** Up to `most` values. */
  list<A>(most: number, make: (nth: number) => A): ReadonlyArray<A> {
    return Array.from({ length: this.between(0, most) }, (_, nth) => make(nth))
  }
}
