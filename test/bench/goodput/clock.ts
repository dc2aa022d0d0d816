/**
 * Shifts the wall clock of a client's process by `CLOCK_SHIFT_MS`, for everything that reads it: this is loaded before
 * anything else. Timers and monotonic time go on as they do.
 */
const shift = Number(process.env["CLOCK_SHIFT_MS"])
const trueNow = Date.now

if (shift !== 0) {
  Date.now = () => trueNow() + shift
  globalThis.Date = new Proxy(Date, {
    // `Date()` and `new Date()` tell the time; with arguments they only convert it.
    apply: (target) => new target(Date.now()).toString(),
    construct: (target, given, newTarget) =>
      Reflect.construct(target, given.length === 0 ? [Date.now()] : given, newTarget)
  })
}
