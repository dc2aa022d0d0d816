/** The tokens that the tenant has issued. */
import type { Snapshot, TokenView } from "../../../control/http/schemas.js"
import type { Act } from "../act.js"
import { count, duration, shortId } from "../format.js"

const stateOf = ({ expiresAt, revoked }: TokenView, time: number): readonly [tone: string, text: string] => {
  if (revoked) return ["bad", "revoked"]
  return expiresAt <= time ? ["warn", "expired"] : ["good", `${duration(expiresAt - time)} left`]
}

export const Tokens = ({ act, time, tokens }: {
  readonly act: Act
  readonly tokens: Snapshot["tokens"]
  readonly time: number
}) => (
  <section class="card" aria-labelledby="tokens">
    <div class="row head">
      <h2 id="tokens">Tokens</h2>
      <span class="soft">{tokens.total > 0 && tokens.total.toLocaleString("en")}</span>
      <button
        type="button"
        class="push"
        disabled={tokens.total === 0}
        onClick={() => act("revokeTokens", { body: {} }, ({ changed }) => `${count(changed, "token")} revoked`)}
      >
        Revoke all
      </button>
    </div>
    {tokens.items.length === 0 && <p class="soft nothing">No token yet.</p>}
    <ul class="items" tabIndex={0} aria-label="Tokens, the newest first">
      {tokens.items.map((token) => {
        const [tone, text] = stateOf(token, time)
        return (
          <li key={token.id}>
            <div class="row">
              <strong>{token.client}</strong>
              <span class="mono token soft" title={`Token ${token.id}`}>{shortId(token.id)}</span>
              <span class={`tag ${tone}`}>{text}</span>
              {tone === "good" && (
                <button
                  type="button"
                  class="plain push"
                  aria-label={`Revoke the token ${token.id} of ${token.client}`}
                  onClick={() =>
                    act("revokeTokens", { body: { id: token.id } }, ({ changed }) =>
                      `${count(changed, "token")} revoked`)}
                >
                  Revoke
                </button>
              )}
            </div>
            <details>
              <summary class="soft">{count(token.scopes.length, "scope")}</summary>
              <p class="tags">{token.scopes.map((scope) => <code key={scope} class="tag">{scope}</code>)}</p>
            </details>
          </li>
        )
      })}
    </ul>
  </section>
)
