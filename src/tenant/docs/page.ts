/**
 * The page at `/docs`: shows `/openapi.json` as forms that send calls to the tenant. It loads nothing else, and keeps a token
 * only while it is open.
 */

const style = String.raw`
:root {
  color-scheme: light dark;
  --back: #fff; --card: #f6f8fa; --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --link: #0860ca; --good: #116329;
  --bad: #b3202a; --fill: #0860ca; --on: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0d1117; --card: #151b23; --text: #f0f6fc; --soft: #9198a1; --line: #3d444d; --link: #4493f8; --good: #3fb950;
    --bad: #ff7b72; --fill: #1f6feb; --on: #fff;
  }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif }
main, header { max-width: 60rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.5rem; margin: .5rem 0 }
h2 { font-size: 1.1rem; margin: 0 0 .75rem }
h3 { font-size: 1rem; margin: 1.25rem 0 .5rem }
a { color: var(--link) }
p { margin: .5rem 0 }
code, pre, textarea { font: .875rem/1.5 ui-monospace, monospace }
code { overflow-wrap: anywhere }
.soft { color: var(--soft) }
.card { border: 1px solid var(--line); border-radius: 8px; background: var(--card); margin: 0 0 1rem; padding: 1rem }
summary { cursor: pointer; display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline }
summary::before { content: "+"; font-weight: 600; width: .75rem }
[open] > summary::before { content: "\2212" }
.method { font-weight: 600; min-width: 4.5rem }
.grid { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); margin: .75rem 0 }
label { display: block; min-width: 0 }
label > * { display: block }
input, select, textarea {
  width: 100%; margin-top: .25rem; padding: .5rem; color: inherit; background: var(--back);
  border: 1px solid var(--soft); border-radius: 6px; font-size: 1rem
}
textarea { min-height: 12rem; resize: vertical; font-size: .875rem }
button {
  min-height: 2.75rem; padding: .5rem 1rem; margin: 0 .5rem 0 0; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on); background: var(--fill); border: 1px solid var(--fill); border-radius: 6px
}
button.quiet { color: var(--text); background: transparent; border-color: var(--soft) }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .875rem }
th, td { text-align: left; vertical-align: top; padding: .375rem .75rem .375rem 0; border-top: 1px solid var(--line) }
td:first-child code { white-space: nowrap }
pre {
  margin: .5rem 0 0; padding: .75rem; overflow: auto; max-height: 30rem; background: var(--back);
  border: 1px solid var(--line); border-radius: 6px
}
.good { color: var(--good); font-weight: 600 }
.bad { color: var(--bad); font-weight: 600 }
`

const script = String.raw`
"use strict"
const main = document.querySelector("main")
let token

const element = (tag, attributes, ...children) => {
  const created = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) created.setAttribute(name, value === true ? "" : value)
  }
  created.append(...children.flat(Infinity))
  return created
}

const code = (text) => element("code", {}, text)

// A paragraph: soft, good or bad.
const note = (kind, text) => element("p", { class: kind }, text)

// Sets text between backticks as code.
const prose = (text) => text.split("\x60").map((part, index) => index % 2 === 0 ? part : code(part))

const input = (attributes) => element("input", { autocomplete: "off", spellcheck: "false", ...attributes })

const labelled = (label, hint, control) =>
  element("label", {}, element("span", {}, label), hint === "" ? [] : element("small", { class: "soft" }, hint), control)

const table = (label, headings, rows) =>
  element("div", { class: "wide" },
    element("table", { "aria-label": label },
      element("thead", {}, element("tr", {}, headings.map((heading) => element("th", { scope: "col" }, heading)))),
      element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell)))))))

const toJson = (value) => JSON.stringify(value, null, 2)

// The names and values of a form, nested names in brackets.
const formEntries = (value, name) => typeof value === "object" && value !== null
  ? Object.entries(value).flatMap(([key, inner]) => formEntries(inner, name === "" ? key : name + "[" + key + "]"))
  : [[name, String(value)]]

const encodeBody = (text, contentType) => {
  const value = JSON.parse(text)
  return contentType === "application/json" ? text : new URLSearchParams(formEntries(value, "")).toString()
}

const send = (path, init, output) => {
  const startedAt = performance.now()
  output.replaceChildren(note("soft", "Sending…"))
  return fetch(path, { ...init, cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" })
    .then((response) => response.text().then((text) => ({ response, text, millis: performance.now() - startedAt })))
    .then(({ response, text, millis }) => Promise.resolve(text).then(JSON.parse).then(
      (value) => ({ response, millis, value, body: toJson(value) }),
      () => ({ response, millis, body: text })))
}

const shownHeaders = ["content-type", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"]

const showResponse = (output, { body, millis, response }) => {
  const { headers, ok, status, statusText } = response
  const rows = shownHeaders.filter((name) => headers.has(name)).map((name) => [code(name), code(headers.get(name))])
  output.replaceChildren(
    note(ok ? "good" : "bad", status + " " + statusText + ", " + Math.max(1, Math.round(millis)) + " ms"),
    table("Response headers", ["header", "value"], rows),
    body === "" ? note("soft", "The body is empty.")
      : element("pre", { tabindex: "0", role: "region", "aria-label": "Response body" }, body)
  )
}

const showError = (output, message) => output.replaceChildren(note("bad", message))

const tokenForm = (tokenUrl) => {
  const id = input({ name: "client_id", required: true })
  const secret = input({ name: "client_secret", type: "password", required: true })
  const audience = input({ name: "audience", required: true, value: "/api/v2/" })
  const forget = element("button", { type: "button", class: "quiet" }, "Forget the token")
  const output = element("div", { id: "token", "aria-live": "polite" }, note("soft", "No token."))
  const form = element("form", { class: "card", "aria-label": "Token" },
    element("h2", {}, "Token"),
    note("soft", prose(
      "The token stays in this page and is gone when you close it. \x60npm run tenant\x60 prints the ids and secrets of its clients.")),
    element("div", { class: "grid" },
      labelled("Client id", "", id), labelled("Client secret", "", secret), labelled("Audience", "", audience)),
    element("button", {}, "Get a token"), forget, output)
  forget.addEventListener("click", () => {
    token = undefined
    secret.value = ""
    output.replaceChildren(note("soft", "No token."))
  })
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    const body = new URLSearchParams({
      grant_type: "client_credentials", client_id: id.value, client_secret: secret.value, audience: audience.value
    })
    token = undefined
    send(tokenUrl, { method: "POST", body }, output).then((result) => {
      const { access_token, expires_in = "unknown", scope = "unknown" } = result.response.ok ? result.value ?? {} : {}
      if (typeof access_token !== "string") {
        showResponse(output, result)
        return output.append(note("soft", "No token."))
      }
      token = access_token
      output.replaceChildren(
        note("good", "Got a token. Its lifetime in seconds: " + expires_in),
        element("p", {}, "Scopes: ", String(scope).split(" ").map((name) => [code(name), " "])))
    }).catch((error) => showError(output, "No response: " + error.message))
  })
  return form
}

const render = (api) => {
  const resolve = (value) => value !== undefined && value.$ref !== undefined
    ? value.$ref.slice(2).split("/").reduce((found, name) => found[name], api)
    : value ?? {}

  const typeInWords = (reference) => {
    const schema = resolve(reference)
    if (schema.enum !== undefined) return schema.enum.join(" or ")
    if (schema.type === "array") return "a list of " + typeInWords(schema.items) + "s"
    const minimum = schema.minimum === undefined ? "" : ", at least " + schema.minimum
    return schema.description ?? (schema.type ?? "anything") + minimum
  }

  const fieldRows = (reference, prefix) => {
    const schema = resolve(reference)
    if (schema.type === "array") return fieldRows(schema.items, prefix + "[]")
    return Object.entries(schema.properties ?? {}).flatMap(([name, type]) => {
      const path = prefix === "" ? name : prefix + "." + name
      const required = (schema.required ?? []).includes(name) ? "required" : ""
      return [[code(path), typeInWords(type), required], ...fieldRows(type, path)]
    })
  }

  const operationCard = (path, method, declared) => {
    const content = declared.requestBody?.content
    const parameters = (declared.parameters ?? []).map(({ example = "", in: place, name, required, schema }) => {
      const control = input({ name, required, value: String(example) })
      return { name, place, control, label: labelled(code(name), typeInWords(schema), control) }
    })
    const contentTypes = Object.keys(content ?? {})
    const media = content?.[contentTypes[0]]
    const body = element("textarea", { name: "body", spellcheck: "false" }, toJson(media?.example ?? {}))
    const contentType = element("select", { name: "content-type" }, contentTypes.map((type) => element("option", {}, type)))
    const output = element("div", { class: "response", "aria-live": "polite" })

    const url = () => {
      const target = path.replace(/\{([^}]+)\}/g, (_, name) => {
        const { value } = parameters.find((parameter) => parameter.place === "path" && parameter.name === name).control
        // A URL parser would resolve them, even percent-encoded.
        if (value === "." || value === "..") throw new Error(name + " cannot be " + value)
        return encodeURIComponent(value)
      })
      const set = parameters.filter(({ control, place }) => place === "query" && control.value !== "")
      const query = new URLSearchParams(set.map(({ control, name }) => [name, control.value])).toString()
      return query === "" ? target : target + "?" + query
    }

    const init = () => {
      const headers = { accept: "application/json", ...(token !== undefined && { authorization: "Bearer " + token }) }
      if (content === undefined) return { method, headers }
      const type = contentType.value
      return { method, headers: { ...headers, "content-type": type }, body: encodeBody(body.value, type) }
    }

    const form = element("form", { "aria-label": declared.summary },
      parameters.length === 0 ? [] : element("div", { class: "grid" }, parameters.map(({ label }) => label)),
      content === undefined ? [] : [
        labelled("Body as JSON", "", body),
        element("div", { class: "grid" }, labelled("Content type", "the body is converted before it is sent", contentType))
      ],
      element("button", {}, "Send"), output)

    form.addEventListener("submit", (event) => {
      event.preventDefault()
      Promise.resolve().then(() => [url(), init()]).then(
        ([url, init]) => send(url, init, output).then(
          (result) => showResponse(output, result),
          (error) => showError(output, "No response: " + error.message)),
        (error) => showError(output, "The request was not sent: " + error.message))
    })

    const fields = fieldRows(media?.schema, "")
    const responses = Object.entries(declared.responses)
      .map(([status, response]) => [code(status), resolve(response).description])
    return element("details", { class: "card", id: declared.operationId },
      element("summary", {},
        element("span", { class: "method" }, method), code(path), element("span", { class: "soft" }, declared.summary)),
      element("p", {}, prose(declared.description)),
      content === undefined ? [] : element("p", {}, prose(declared.requestBody.description)),
      fields.length === 0 ? []
        : [element("h3", {}, "Body fields"), table("Body fields", ["field", "type", ""], fields)],
      element("h3", {}, "Try it"), form,
      element("h3", {}, "Responses"), table("Responses", ["status", "meaning"], responses))
  }

  const { tokenUrl } = api.components.securitySchemes.clientCredentials.flows.clientCredentials
  const cards = Object.entries(api.paths)
    .filter(([path]) => path.replace(/\/$/, "") !== tokenUrl.replace(/\/$/, ""))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, declared]) => operationCard(path, method.toUpperCase(), declared)))

  document.title = api.info.title
  document.querySelector("h1").textContent = api.info.title
  document.querySelector("#about").textContent = api.info.description
  main.replaceChildren(tokenForm(tokenUrl), ...cards)
}

const openAddressed = () => {
  const card = document.getElementById(location.hash.slice(1))
  if (card?.tagName !== "DETAILS") return
  card.open = true
  card.scrollIntoView()
}

fetch("openapi.json").then((response) => response.json()).then(render).then(() => {
  addEventListener("hashchange", openAddressed)
  openAddressed()
}).catch((error) => showError(main, "Could not load the OpenAPI document: " + error.message))
`

/** The page, and its inline code, which the content security policy names by its hash. */
export const page = {
  style,
  script,
  html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Embedded tenant</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<header>
<h1>Embedded tenant</h1>
<p id="about"></p>
<p>See also the <a href="openapi.json">OpenAPI 3.1 document</a>.</p>
</header>
<main><p>Loading the OpenAPI document…</p></main>
<script>${script}</script>
</body>
</html>
`
} as const
