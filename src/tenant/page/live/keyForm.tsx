/** Asks for the key if the page has none, or one that the tenant refuses. */
import { keyIn } from "../ui/key.js"

export const KeyForm = ({ onKey, refused }: { readonly refused: boolean; readonly onKey: (key: string) => void }) => (
  <form
    class="card key"
    onSubmit={(event) => {
      event.preventDefault()
      const given = String(new FormData(event.currentTarget).get("key") ?? "").trim()
      onKey(keyIn(given) || given)
    }}
  >
    <h2>{refused ? "The tenant has another key" : "The page needs the tenant's key"}</h2>
    <p>
      {refused ? "It may have been started anew. " : ""}
      Open the address that the command printed, or paste the address or the key here.
    </p>
    <label>
      Address or key
      <input name="key" required autocomplete="off" spellcheck={false} placeholder="http://127.0.0.1:8787/#key=…" />
    </label>
    <button class="strong">Open</button>
  </form>
)
