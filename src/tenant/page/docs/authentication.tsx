/** Gets a token: by a button for each client if the page has the tenant's key, or by id and secret. */
import { useEffect, useState } from "preact/hooks"
import type { ClientView } from "../../control/messages.js"
import { CopyButton } from "../ui/copy.js"
import { clientsOf, type Token, tokenByKey, tokenBySecret } from "./token.js"

const TokenLine = ({ onForget, token }: { readonly token: Token; readonly onForget: () => void }) => (
  <div class="row">
    <span class="tag good">Token</span>
    <span>
      <strong>{token.client}</strong>, valid until {new Date(token.expiresAt).toLocaleTimeString()}
    </span>
    <CopyButton label="Copy for the shell" text={() => `export TOKEN=${token.value}`} />
    <button type="button" onClick={onForget}>Forget</button>
    <details class="whole">
      <summary>{token.scopes.length} scopes</summary>
      <p class="tags">{token.scopes.map((scope) => <code key={scope} class="tag">{scope}</code>)}</p>
    </details>
  </div>
)

const useClients = (key: string): ReadonlyArray<ClientView> => {
  const [clients, set] = useState<ReadonlyArray<ClientView>>([])
  useEffect(() => {
    if (key === "") return
    clientsOf(key).then(set, () => set([]))
  }, [key])
  return clients
}

export const Authentication = ({ onToken, tenantKey, token }: {
  readonly tenantKey: string
  readonly token: Token | undefined
  readonly onToken: (token: Token | undefined) => void
}) => {
  const clients = useClients(tenantKey)
  const [problem, setProblem] = useState("")
  const get = (asked: Promise<Token>) =>
    asked.then((token) => ["", token] as const, ({ message }: Error) => [message, undefined] as const)
      .then(([problem, token]) => {
        setProblem(problem)
        return onToken(token)
      })
  return (
    <section class="card authentication" aria-labelledby="authentication">
      <h2 id="authentication">Authentication</h2>
      {clients.length > 0 && (
        <div class="row">
          <span class="soft">Get a token for</span>
          {clients.map(({ global, id, scopes }) => (
            <button
              key={id}
              type="button"
              title={`${scopes.length} scopes${global ? "" : ", not global"}`}
              onClick={() => void get(tokenByKey(tenantKey, id))}
            >
              {id}
            </button>
          ))}
        </div>
      )}
      <details open={clients.length === 0}>
        <summary>By id and secret</summary>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            const form = new FormData(event.currentTarget)
            void get(tokenBySecret(String(form.get("id")), String(form.get("secret"))))
          }}
        >
          <label>
            Client id<input name="id" required autocomplete="off" spellcheck={false} />
          </label>
          <label>
            Client secret<input name="secret" type="password" required autocomplete="off" />
          </label>
          <button class="strong">Get a token</button>
        </form>
      </details>
      <div role="status" aria-label="Token">
        {problem !== "" && <p class="problem">{problem}</p>}
        {token === undefined
          ? problem === "" && <p class="soft">No token yet. It is kept in memory until the page is closed.</p>
          : <TokenLine token={token} onForget={() => onToken(undefined)} />}
      </div>
    </section>
  )
}
