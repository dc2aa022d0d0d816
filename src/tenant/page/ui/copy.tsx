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
  return copied ? Promise.resolve() : Promise.reject(new Error("The browser refused to copy."))
}

/** If `text` throws an `Error`, its message is shown beside the button. */
export const CopyButton = ({ label, text }: { readonly label: string; readonly text: () => string }) => {
  const [said, say] = useState({ short: "", problem: "" })
  useEffect(() => {
    if (said.short === "") return
    const timer = setTimeout(() => say({ short: "", problem: "" }), said.problem === "" ? 1500 : 6000)
    return () => clearTimeout(timer)
  }, [said])
  const click = async () => {
    try {
      await copy(text())
      say({ short: "Copied", problem: "" })
    } catch (error) {
      say({ short: "Could not copy", problem: error instanceof Error ? error.message : String(error) })
    }
  }
  return (
    <>
      <button type="button" onClick={() => void click()}>{said.short === "" ? label : said.short}</button>
      <span class={said.problem === "" ? "hidden" : "warn"} role="status">
        {said.problem === "" ? said.short : said.problem}
      </span>
    </>
  )
}
