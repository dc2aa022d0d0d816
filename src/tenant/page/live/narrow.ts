/** Follows the width of the window. */
import { useEffect, useState } from "preact/hooks"

const narrow = matchMedia("(max-width: 700px)")

/** `true` on a phone, where rows have two lines. */
export const useNarrow = (): boolean => {
  const [matches, set] = useState(narrow.matches)
  useEffect(() => {
    const change = () => set(narrow.matches)
    narrow.addEventListener("change", change)
    return () => narrow.removeEventListener("change", change)
  }, [])
  return matches
}
