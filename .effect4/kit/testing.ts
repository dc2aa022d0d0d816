/**
 * Stands for `effect/testing` in the converted tests: time goes on only when all fibers that are ready have run, as with the `TestClock` of
 * Effect 3. That of Effect 4 lets them run once: a fiber that forks others before it sleeps would sleep too late.
 */
export { TestConsole, TestSchema } from "../node_modules/effect/dist/testing/index.js"
export * as TestClock from "./testClock.js"
