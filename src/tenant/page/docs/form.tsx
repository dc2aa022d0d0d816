/** The form of an operation: parameters, body, and the buttons that send it or copy it for curl. */
import { useRef, useState } from "preact/hooks"
import { CopyButton } from "../ui/copy.js"
import { type Json, parseJson } from "../ui/json.js"
import type { Document, Operation, Parameter } from "./document.js"
import { follow } from "./document.js"
import { ReceivedResponse } from "./received.js"
import { asCurl, formType, keyOf, multipartType, prepare, type Received, send, type Values } from "./request.js"
import { sample } from "./sample.js"
import { Fields, TypeLine } from "./schema.js"

const text = (value: Json | undefined): string =>
  value === undefined
    ? ""
    : typeof value === "string"
    ? value
    : Array.isArray(value)
    ? value.join(",")
    : JSON.stringify(value)

/** The values to begin with: the examples of the document. */
const start = (document: Document, { body, parameters }: Operation): Values => {
  const [contentType] = Object.keys(body?.content ?? {})
  const media = contentType === undefined ? undefined : body?.content?.[contentType]
  const value = media?.example ?? (media?.schema === undefined ? undefined : sample(document, media.schema))
  return {
    parameters: Object.fromEntries(parameters.map((parameter) => [keyOf(parameter), text(parameter.example)])),
    contentType,
    body: value === undefined ? "" : JSON.stringify(value, null, 2),
    files: {}
  }
}

const ParameterField = ({ document, id, onInput, parameter, value }: {
  readonly document: Document
  readonly id: string
  readonly parameter: Parameter
  readonly value: string
  readonly onInput: (value: string) => void
}) => {
  const { description, in: place, name, required, schema = {} } = parameter
  const choices = follow(document, schema).enum
  return (
    <li class="parameter">
      <label for={id}>
        <code class="name">{name}</code> <span class="soft">{place}</span>
      </label>
      {choices === undefined
        ? (
          <input
            id={id}
            value={value}
            required={required}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )
        : (
          <select id={id} value={value} required={required} onChange={(event) => onInput(event.currentTarget.value)}>
            {required !== true && <option value="">not sent</option>}
            {choices.map((choice) => <option key={text(choice)} value={text(choice)}>{text(choice)}</option>)}
          </select>
        )}
      <span class="about">
        <TypeLine
          document={document}
          schema={{ ...schema, ...(description !== undefined && { description }) }}
          required={required === true}
        />
      </span>
    </li>
  )
}

/** The fields of a body that are files. */
const fileFields = (document: Document, { body }: Operation): ReadonlyArray<string> => {
  const schema = body?.content?.[multipartType]?.schema
  return Object.entries(schema === undefined ? {} : follow(document, schema).properties ?? {})
    .filter(([, property]) => follow(document, property).format === "binary").map(([name]) => name)
}

const BodyField = ({ change, document, operation, values }: {
  readonly document: Document
  readonly operation: Operation
  readonly values: Values
  readonly change: (values: Partial<Values>) => void
}) => {
  const { body, id } = operation
  const types = Object.keys(body?.content ?? {})
  const { contentType } = values
  if (body === undefined || contentType === undefined) return null
  const schema = body.content?.[contentType]?.schema
  const isForm = contentType === formType || contentType === multipartType
  return (
    <fieldset class="body">
      <legend>
        <h3>Body</h3>
      </legend>
      <label class="row">
        Sent as
        <select
          class="inline"
          value={contentType}
          onChange={(event) => change({ contentType: event.currentTarget.value })}
        >
          {types.map((type) => <option key={type} value={type}>{type}</option>)}
        </select>
      </label>
      <div class="columns">
        <div>
          <label for={`${id} body`}>{isForm ? "Fields, typed as JSON" : "JSON"}</label>
          <textarea
            id={`${id} body`}
            rows={Math.min(16, Math.max(4, values.body.split("\n").length))}
            spellcheck={false}
            value={values.body}
            onInput={(event) => change({ body: event.currentTarget.value })}
          />
          {values.body.trim() !== "" && parseJson(values.body) === undefined && <p class="warn">This is not JSON.</p>}
          {contentType === multipartType && fileFields(document, operation).map((name) => (
            <label key={name}>
              {name}
              <input
                type="file"
                onChange={(event) => change({ files: { ...values.files, [name]: event.currentTarget.files?.[0] } })}
              />
            </label>
          ))}
        </div>
        {schema !== undefined && <Fields document={document} schema={schema} />}
      </div>
    </fieldset>
  )
}

export const OperationForm = ({ document, operation, token }: {
  readonly document: Document
  readonly operation: Operation
  readonly token: string | undefined
}) => {
  const [values, setValues] = useState(() => start(document, operation))
  const [received, setReceived] = useState<Received | string>()
  const [sending, setSending] = useState<AbortController>()
  const latest = useRef<AbortController | undefined>(undefined)
  const form = useRef<HTMLFormElement>(null)
  const { id, parameters } = operation
  const change = (changed: Partial<Values>) => setValues((before) => ({ ...before, ...changed }))
  const submit = async () => {
    latest.current?.abort()
    const abort = new AbortController()
    latest.current = abort
    setSending(abort)
    const outcome = await Promise.resolve().then(() => send(prepare(operation, values, token), abort.signal)).catch((
      error: Error
    ) =>
      abort.signal.aborted
        ? "Cancelled."
        : error instanceof TypeError
        ? "No response: the connection broke, or the tenant does not run."
        : error.message
    )
    if (latest.current !== abort) return // a later request is shown
    latest.current = undefined
    setReceived(outcome)
    setSending(undefined)
  }
  return (
    <form
      ref={form}
      aria-label={`Send ${operation.summary}`}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault() // the browser itself may submit, too, or press the focused button
        if (!event.repeat) form.current?.requestSubmit()
      }}
    >
      {parameters.length > 0 && (
        <fieldset>
          <legend>
            <h3>Parameters</h3>
          </legend>
          <ul>
            {parameters.map((parameter) => (
              <ParameterField
                key={keyOf(parameter)}
                id={`${id} ${keyOf(parameter)}`}
                document={document}
                parameter={parameter}
                value={values.parameters[keyOf(parameter)] ?? ""}
                onInput={(value) => change({ parameters: { ...values.parameters, [keyOf(parameter)]: value } })}
              />
            ))}
          </ul>
        </fieldset>
      )}
      <BodyField document={document} operation={operation} values={values} change={change} />
      <div class="row">
        <button class="strong">Send</button>
        <CopyButton label="Copy as curl" text={() => asCurl(prepare(operation, values, token ?? ""))} />
        {sending !== undefined && <button type="button" onClick={() => sending.abort()}>Cancel</button>}
        <span class="soft keys">Ctrl+Enter sends</span>
        {operation.needsToken && token === undefined && <span class="warn">Without a token: 401.</span>}
      </div>
      <div role="status">
        {sending !== undefined && received === undefined && <p class="soft">Sending …</p>}
        {typeof received === "string" && <p class="problem">{received}</p>}
        {typeof received === "object" && <ReceivedResponse operation={operation} received={received} />}
      </div>
    </form>
  )
}
