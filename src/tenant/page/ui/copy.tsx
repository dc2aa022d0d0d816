/** A button that copies a text, and says so. */
import { useEffect, useState } from "preact/hooks"

/** Copies by the clipboard interface, which browsers offer to secure origins; elsewhere by a selection. */
const copy = (text: string): Promise<void> => {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement("textarea")
  area.value = text
  document.body.append(area)
  area.select()
  const copied = document.execCommand("copy")
  area.remove()
  return copied ? Promise.resolve() : Promise.reject(new Error("The browser refused to copy"))
}

export const CopyButton = ({ label, text }: { readonly label: string; readonly text: () => string }) => {
  const [said, say] = useState("")
  useEffect(() => {
    if (said === "") return
    const timer = setTimeout(() => say(""), 1500)
    return () => clearTimeout(timer)
  }, [said])
  const click = () => copy(text()).then(() => say("Copied"), () => say("Could not copy"))
  return (
    <button type="button" onClick={click}>
      {said === "" ? label : said}
      <span class="hidden" role="status">{said}</span>
    </button>
  )
}
