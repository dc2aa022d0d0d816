/** Starts the page of operations: reads the OpenAPI document and shows each operation of it. */
import { render } from "preact"
import { useEffect, useMemo, useState } from "preact/hooks"
import { Boundary } from "../ui/boundary.js"
import { Filter } from "../ui/filter.js"
import { fragmentOf } from "../ui/key.js"
import { Prose } from "../ui/prose.js"
import { useKey } from "../ui/useKey.js"
import { Authentication } from "./authentication.js"
import { type Document, operationsOf } from "./document.js"
import { methodTone, OperationPart } from "./operation.js"
import type { Token } from "./token.js"

/** The operation that the address links to. The key is not left in the address, so the fragment is free for this. */
const linked = (): string => {
  try {
    return decodeURIComponent(location.hash.slice(1))
  } catch {
    return ""
  }
}

/** The operations that are open, among them the one that the address links to. */
const useOpen = (ids: ReadonlyArray<string>) => {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set([linked()]))
  useEffect(() => {
    const show = () => {
      const id = linked()
      setOpen((before) => new Set(before).add(id))
      requestAnimationFrame(() => document.getElementById(id)?.scrollIntoView())
    }
    show()
    addEventListener("hashchange", show)
    return () => removeEventListener("hashchange", show)
  }, [])
  const isAllOpen = ids.every((id) => open.has(id))
  return {
    open,
    isAllOpen,
    toggle: (id: string, opened: boolean) =>
      setOpen((before) => new Set(opened ? [...before, id] : [...before].filter((other) => other !== id))),
    toggleAll: () => setOpen(new Set(isAllOpen ? [] : ids))
  }
}

const Page = ({ openapi, tenantKey }: { readonly openapi: Document; readonly tenantKey: string }) => {
  const operations = useMemo(() => operationsOf(openapi), [openapi])
  const { isAllOpen, open, toggle, toggleAll } = useOpen(operations.map(({ id }) => id))
  const [token, setToken] = useState<Token>()
  const [filter, setFilter] = useState("")
  const words = filter.toLowerCase().split(/\s+/)
  const found = operations.filter(({ id, method, path, scopes, summary }) => {
    const text = `${id} ${method} ${path} ${summary} ${scopes.join(" ")}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return (
    <>
      <header class="bar">
        <h1>{openapi.info.title}</h1>
        <span class="soft">{openapi.info.version}</span>
        <nav class="push row" aria-label="Pages">
          {tenantKey !== "" && <a href={`/${fragmentOf(tenantKey)}`}>Live page</a>}
          <a href="/openapi.json" download="openapi.json">OpenAPI document</a>
        </nav>
      </header>
      <div class="layout">
        <nav class="operations" aria-label="Operations">
          <Filter label="Filter operations" value={filter} onChange={setFilter} />
          <ul>
            {found.map(({ id, method, summary }) => (
              <li key={id}>
                <a href={`#${encodeURIComponent(id)}`}>
                  <span class={`tag method ${methodTone[method] ?? ""}`}>{method}</span> {summary}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <main>
          {openapi.info.description !== undefined && (
            <p class="soft">
              <Prose text={openapi.info.description} />
            </p>
          )}
          <Authentication tenantKey={tenantKey} token={token} onToken={setToken} />
          <div class="row">
            <span class="soft">{found.length} of {operations.length} operations</span>
            <button type="button" class="push" onClick={toggleAll}>{isAllOpen ? "Collapse all" : "Expand all"}</button>
          </div>
          {found.map((operation) => (
            <OperationPart
              key={operation.id}
              document={openapi}
              operation={operation}
              token={token?.value}
              open={open.has(operation.id)}
              onToggle={(opened) => toggle(operation.id, opened)}
            />
          ))}
        </main>
      </div>
    </>
  )
}

const App = () => {
  const [tenantKey] = useKey()
  const [openapi, set] = useState<Document | Error>()
  useEffect(() => {
    // Sound: the tenant makes the document; fields of it that are absent are optional in its type.
    fetch("/openapi.json", { credentials: "omit" }).then((response) => response.json() as Promise<Document>).then(
      set,
      set
    )
  }, [])
  if (openapi === undefined) {
    return (
      <main>
        <p class="soft">Reading the document …</p>
      </main>
    )
  }
  if (openapi instanceof Error) {
    return (
      <main>
        <p class="problem" role="alert">The document cannot be read. Does the tenant run?</p>
      </main>
    )
  }
  return <Page openapi={openapi} tenantKey={tenantKey} />
}

render(
  <Boundary>
    <App />
  </Boundary>,
  document.body
)
