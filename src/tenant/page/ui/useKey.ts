/** Keeps the tenant's key for a tab of the browser. */
import { useEffect, useState } from "preact/hooks"
import { keyIn } from "./key.js"

const name = "tenant-key"

/** A browser may forbid storage; then the key lasts until the page is loaded anew. */
const storage = <A>(use: (storage: Storage) => A, otherwise: A): A => {
  try {
    return use(sessionStorage)
  } catch {
    return otherwise
  }
}

const keep = (key: string): void => storage((storage) => storage.setItem(name, key), undefined)

/** Takes the key out of the address, where others could see it and bookmarks would keep it. Empty if there is none. */
const takeFromAddress = (): string => {
  const key = keyIn(location.hash)
  if (key === "") return ""
  history.replaceState(null, "", location.pathname)
  keep(key)
  return key
}

/** The key of the address, or the one that this tab has had before; empty if there is none. The function replaces it. */
export const useKey = (): readonly [key: string, replace: (key: string) => void] => {
  const [key, set] = useState(() => takeFromAddress() || storage((storage) => storage.getItem(name) ?? "", ""))
  useEffect(() => {
    const change = () => set((before) => takeFromAddress() || before)
    addEventListener("hashchange", change)
    return () => removeEventListener("hashchange", change)
  }, [])
  return [key, (key) => {
    keep(key)
    set(key)
  }]
}
