/** Keeps a value once in a process, however many copies of a module are loaded. */
const values: Record<symbol, unknown> = globalThis as never // sound: only keys of this module are read and written

export const globalValue = <A>(name: string, make: () => A): A => (values[Symbol.for(name)] ??= make()) as A // sound: each name is used for one type
