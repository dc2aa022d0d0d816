/** Takes the place of a page that cannot be drawn. */
import type { ComponentChildren } from "preact"
import { useErrorBoundary } from "preact/hooks"

/** Shows its children; once one of them has thrown, a message and a button that loads the page anew. */
export const Boundary = ({ children }: { readonly children: ComponentChildren }) => {
  const [error]: readonly [unknown, () => void] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return (
    <main>
      <p class="problem" role="alert">
        This page has failed: {error instanceof Error ? error.message : String(error)}
      </p>
      <p>
        <button type="button" class="strong" onClick={() => location.reload()}>Reload</button>
      </p>
    </main>
  )
}
