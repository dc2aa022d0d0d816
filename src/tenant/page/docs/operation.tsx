/** An operation: a heading that opens and closes it, a link, its description, its form and its responses. */
import { useRef } from "preact/hooks"
import { Prose } from "../ui/prose.js"
import type { Document, Operation } from "./document.js"
import { OperationForm } from "./form.js"
import { Responses } from "./responses.js"

export const methodTone: Readonly<Record<string, string>> = {
  GET: "info",
  POST: "good",
  PATCH: "warn",
  PUT: "warn",
  DELETE: "bad"
}

export const OperationPart = ({ document, onToggle, open, operation, token }: {
  readonly document: Document
  readonly operation: Operation
  readonly open: boolean
  readonly token: string | undefined
  readonly onToggle: (open: boolean) => void
}) => {
  const { description, id, method, path, scopes, summary } = operation
  // What is typed stays while the operation is closed.
  const wasOpen = useRef(false)
  wasOpen.current ||= open
  return (
    <article class="card operation" id={id} aria-labelledby={`${id} heading`}>
      <h2 id={`${id} heading`}>
        <button
          type="button"
          class="plain toggle"
          aria-expanded={open}
          aria-controls={`${id} content`}
          onClick={() => onToggle(!open)}
        >
          <span class={`tag method ${methodTone[method] ?? ""}`}>{method}</span>
          <span class="summary">{summary}</span>
          <code class="path">{path}</code>
        </button>
        <a class="anchor" href={`#${encodeURIComponent(id)}`} aria-label={`Link to ${summary}`}>#</a>
      </h2>
      <div id={`${id} content`} class="content" hidden={!open}>
        {wasOpen.current && (
          <>
            {description.split("\n\n").filter((part) => part !== "").map((part) => (
              <p key={part}>
                <Prose text={part} />
              </p>
            ))}
            {scopes.length > 0 && (
              <p class="row">
                <span class="soft">{scopes.length === 1 ? "Scope" : "Any of the scopes"}</span>
                {scopes.map((scope) => <code key={scope} class="tag">{scope}</code>)}
              </p>
            )}
            <OperationForm document={document} operation={operation} token={token} />
            <Responses document={document} operation={operation} />
          </>
        )}
      </div>
    </article>
  )
}
