/** Keeps a value once in a process, however many copies of a module are loaded. */
export { globalValue } from "effect/GlobalValue"
