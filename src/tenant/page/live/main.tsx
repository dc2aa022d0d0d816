/** Starts the live page. */
import { render } from "preact"
import { Boundary } from "../ui/boundary.js"
import { App } from "./app.js"

render(
  <Boundary>
    <App />
  </Boundary>,
  document.body
)
