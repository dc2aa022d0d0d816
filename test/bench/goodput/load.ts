/** Keeps a core busy until it is killed, for ten minutes at the most. */
process.send?.({})
const end = performance.now() + 600_000
process.once("disconnect", () => process.exit())

/** Works for a moment, and then lets the process see that its parent is gone. */
const work = (): void => {
  const pause = performance.now() + 100
  while (performance.now() < pause);
  if (performance.now() < end) setImmediate(work)
  else process.exit()
}

setImmediate(work)
