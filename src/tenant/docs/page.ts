/**
 * The page at `/docs`: reads `/openapi.json` and shows what it says, as forms that send calls to the tenant itself. It loads
 * nothing else, and holds a token only while it is open.
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

const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value)
  }
  element.append(...children.flat(Infinity))
  return element
}

// Text with names in backticks.
const prose = (text) => text.split("\x60").map((part, index) => index % 2 === 0 ? part : make("code", {}, part))

const pretty = (value) => JSON.stringify(value, null, 2)

const begin = (api) => {
  const at = (value) => value !== undefined && value.$ref !== undefined
    ? value.$ref.slice(2).split("/").reduce((found, name) => found[name], api)
    : value ?? {}

  // What a schema allows, in a few words.
  const allows = (reference) => {
    const schema = at(reference)
    if (schema.enum !== undefined) return schema.enum.join(" or ")
    if (schema.type === "array") return "a list of " + allows(schema.items) + "s"
    const least = schema.minimum === undefined ? "" : ", at least " + schema.minimum
    return schema.description ?? (schema.type ?? "anything") + least
  }

  const members = (reference, before) => {
    const schema = at(reference)
    if (schema.type === "array") return members(schema.items, before + "[]")
    return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
      const path = before === "" ? name : before + "." + name
      const needed = (schema.required ?? []).includes(name) ? "required" : ""
      return [[make("code", {}, path), allows(member), needed], ...members(member, path)]
    })
  }

  const table = (label, heads, rows) =>
    make("div", { class: "wide" },
      make("table", { "aria-label": label },
        make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))),
        make("tbody", {}, rows.map((row) => make("tr", {}, row.map((cell) => make("td", {}, cell)))))))

  const field = (label, hint, control) =>
    make("label", {}, make("span", {}, label), hint === "" ? [] : make("small", { class: "soft" }, hint), control)

  // Nested members in brackets.
  const pairs = (value, name) => typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, member]) => pairs(member, name === "" ? key : name + "[" + key + "]"))
    : [[name, String(value)]]

  const encode = (text, type) => {
    const value = JSON.parse(text)
    return type === "application/json" ? text : new URLSearchParams(pairs(value, "")).toString()
  }

  const told = ["content-type", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"]

  const send = (path, init, output) => {
    const began = performance.now()
    output.replaceChildren(make("p", { class: "soft" }, "Sending…"))
    return fetch(path, { ...init, cache: "no-store", credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" })
      .then((response) => response.text().then((text) => ({ response, text, took: performance.now() - began })))
      .then(({ response, text, took }) => Promise.resolve(text).then(JSON.parse).then(
        (value) => ({ response, took, value, body: pretty(value) }),
        () => ({ response, took, body: text })))
  }

  const fail = (output, message) => output.replaceChildren(make("p", { class: "bad" }, message))

  const show = (output, { body, response, took }) => {
    const rows = told.filter((name) => response.headers.has(name)).map((name) =>
      [make("code", {}, name), make("code", {}, response.headers.get(name))])
    output.replaceChildren(
      make("p", { class: response.ok ? "good" : "bad" }, response.status + " " + response.statusText
        + ", " + Math.max(1, Math.round(took)) + " ms"),
      table("Headers of the answer", ["header", "value"], rows),
      body === "" ? make("p", { class: "soft" }, "The body is empty.")
        : make("pre", { tabindex: "0", role: "region", "aria-label": "Body of the answer" }, body)
    )
  }

  const { scopes, tokenUrl } = api.components.securitySchemes.clientCredentials.flows.clientCredentials

  const tokenForm = () => {
    const id = make("input", { name: "client_id", required: true, autocomplete: "off", spellcheck: "false" })
    const secret = make("input", { name: "client_secret", type: "password", required: true, autocomplete: "off" })
    const audience = make("input", { name: "audience", required: true, value: "/api/v2/", spellcheck: "false" })
    const forget = make("button", { type: "button", class: "quiet" }, "Forget it")
    const output = make("div", { id: "token", "aria-live": "polite" }, make("p", { class: "soft" }, "There is no token yet."))
    const form = make("form", { class: "card", "aria-label": "Token" },
      make("h2", {}, "Token"),
      make("p", { class: "soft" }, "It stays in this page and is gone when the page is closed. The tenant says at its start who its clients are."),
      make("div", { class: "grid" }, field("Client id", "", id), field("Client secret", "", secret), field("Audience", "", audience)),
      make("button", {}, "Get a token"), forget, output)
    forget.addEventListener("click", () => {
      token = undefined
      secret.value = ""
      output.replaceChildren(make("p", { class: "soft" }, "There is no token."))
    })
    form.addEventListener("submit", (event) => {
      event.preventDefault()
      const body = new URLSearchParams({
        grant_type: "client_credentials", client_id: id.value, client_secret: secret.value, audience: audience.value
      })
      token = undefined
      send(tokenUrl, { method: "POST", body }, output).then((answer) => {
        const { access_token, expires_in = "unknown", scope = "unknown" } = answer.response.ok ? answer.value ?? {} : {}
        if (typeof access_token !== "string") {
          show(output, answer)
          return output.append(make("p", { class: "soft" }, "There is no token."))
        }
        token = access_token
        output.replaceChildren(
          make("p", { class: "good" }, "There is a token. Seconds that it is good for: " + expires_in),
          make("p", {}, "Its scopes: ", String(scope).split(" ").map((scope) => [make("code", {}, scope), " "])))
      }).catch((error) => fail(output, "No answer: " + error.message))
    })
    return form
  }

  const operation = (path, method, declared) => {
    const parameters = declared.parameters ?? []
    const content = declared.requestBody?.content
    const inputs = parameters.map(({ example, in: place, name, required, schema }) => ({
      name, place,
      label: field(make("code", {}, name), allows(schema),
        make("input", { name, required, autocomplete: "off", spellcheck: "false", value: example === undefined ? "" : String(example) })),
    }))
    const value = ({ label }) => label.querySelector("input").value
    const types = Object.keys(content ?? {})
    const [type] = types
    const body = make("textarea", { name: "body", spellcheck: "false" }, content === undefined ? "" : pretty(content[type].example ?? {}))
    const as = make("select", { name: "as" }, types.map((type) => make("option", {}, type)))
    const output = make("div", { class: "answer", "aria-live": "polite" })

    const form = make("form", { "aria-label": declared.summary },
      inputs.length === 0 ? [] : make("div", { class: "grid" }, inputs.map(({ label }) => label)),
      content === undefined ? [] : [
        field("Body, as JSON", "", body),
        make("div", { class: "grid" }, field("Send it as", "", as))
      ],
      make("button", {}, "Send"), output)

    form.addEventListener("submit", (event) => {
      event.preventDefault()
      // As segments, dots are steps to another path, however they are written.
      const target = () => path.replace(/\{([^}]+)\}/g, (_, name) => {
        const text = value(inputs.find((input) => input.place === "path" && input.name === name))
        if (text === "." || text === "..") throw new Error(name + " cannot be " + text)
        return encodeURIComponent(text)
      })
      const query = new URLSearchParams(inputs.filter((input) => input.place === "query" && value(input) !== "")
        .map((input) => [input.name, value(input)])).toString()
      const headers = { accept: "application/json", ...(token !== undefined && { authorization: "Bearer " + token }) }
      Promise.resolve()
        .then(() => [
          query === "" ? target() : target() + "?" + query,
          content === undefined
            ? { method, headers }
            : { method, headers: { ...headers, "content-type": as.value }, body: encode(body.value, as.value) }
        ])
        .then(
          ([url, init]) => send(url, init, output).then(
            (answer) => show(output, answer),
            (error) => fail(output, "No answer: " + error.message)),
          (error) => fail(output, "Nothing was sent. " + error.message))
    })

    const fields = content === undefined ? [] : members(content[type].schema, "")
    const answers = Object.entries(declared.responses).map(([status, answer]) => [make("code", {}, status), at(answer).description])
    return make("details", { class: "card", id: declared.operationId },
      make("summary", {}, make("span", { class: "method" }, method), make("code", {}, path), make("span", { class: "soft" }, declared.summary)),
      make("p", {}, prose(declared.description)),
      declared.requestBody?.description === undefined ? [] : make("p", {}, prose(declared.requestBody.description)),
      fields.length === 0 ? [] : [make("h3", {}, "Members of the body"), table("Members of the body", ["member", "value", ""], fields)],
      make("h3", {}, "Try it"), form,
      make("h3", {}, "Answers"), table("Answers", ["status", "meaning"], answers))
  }

  const operations = Object.entries(api.paths).flatMap(([path, methods]) => path.replace(/\/$/, "") === tokenUrl.replace(/\/$/, "")
    ? []
    : Object.entries(methods).map(([method, declared]) => operation(path, method.toUpperCase(), declared)))

  document.title = api.info.title
  document.querySelector("h1").textContent = api.info.title
  document.querySelector("#about").textContent = api.info.description
  main.replaceChildren(tokenForm(), ...operations)

  const reveal = () => {
    const named = document.getElementById(location.hash.slice(1))
    if (named?.tagName !== "DETAILS") return
    named.open = true
    named.scrollIntoView()
  }
  addEventListener("hashchange", reveal)
  reveal()
}

fetch("openapi.json").then((response) => response.json()).then(begin).catch((error) => {
  main.replaceChildren(make("p", { class: "bad" }, "The description cannot be read: " + error.message))
})
`

/** What is inline, and the page around it. */
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
<p>All of it as <a href="openapi.json">OpenAPI 3.1</a>.</p>
</header>
<main><p>Reading the description…</p></main>
<script>${script}</script>
</body>
</html>
`
} as const
