/** Moves the focus of the keyboard. */

/** Focuses the element with an id after the next drawing, if it is there then. */
export const focusSoon = (id: string): void => {
  requestAnimationFrame(() => document.getElementById(id)?.focus())
}
