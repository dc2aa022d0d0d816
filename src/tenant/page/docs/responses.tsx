/** The responses that an operation may give: their meanings, headers and schemas. */
import { Prose } from "../ui/prose.js"
import { toneOf } from "../ui/status.js"
import { type Document, follow, type Operation, type Response } from "./document.js"
import { Fields, typeText } from "./schema.js"

const ResponseParts = ({ document, response: { content = {}, headers = {} } }: {
  readonly document: Document
  readonly response: Response
}) => (
  <>
    {Object.entries(content).map(([type, { schema }]) => (
      <div key={type}>
        <p class="soft">
          <code>{type}</code>
          {schema !== undefined && ` · ${typeText(document, schema)}`}
        </p>
        {schema !== undefined && <Fields document={document} schema={schema} />}
      </div>
    ))}
    {Object.keys(headers).length > 0 && (
      <ul class="fields" aria-label="Headers">
        {Object.entries(headers).map(([name, given]) => {
          const { description, schema } = follow(document, given)
          return (
            <li key={name}>
              <code class="name">{name}</code>
              <span class="type mono">{schema === undefined ? "" : typeText(document, schema)}</span>
              {description !== undefined && (
                <span class="meaning">
                  <Prose text={description} />
                </span>
              )}
            </li>
          )
        })}
      </ul>
    )}
  </>
)

export const Responses = ({ document, operation: { id, responses } }: {
  readonly document: Document
  readonly operation: Operation
}) => (
  <section aria-labelledby={`${id} responses`}>
    <h3 id={`${id} responses`}>Responses</h3>
    <ul class="responses">
      {responses.map(([status, response]) => (
        <li key={status}>
          <details>
            <summary>
              <span class={`tag ${/^\d/.test(status) ? toneOf(Number(status.replaceAll("X", "0"))) : ""}`}>
                {status}
              </span>{" "}
              <Prose text={response.description ?? ""} />
            </summary>
            <ResponseParts document={document} response={response} />
          </details>
        </li>
      ))}
    </ul>
  </section>
)
