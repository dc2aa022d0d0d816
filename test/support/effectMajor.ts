/** The major of Effect that the tests run on: a few of them are about what only one has. */
export const effectMajor: number = 3
