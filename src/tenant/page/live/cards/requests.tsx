/** The list of requests, the newest first. Only the rows in sight are in the page. */
import { useEffect, useRef, useState } from "preact/hooks"
import type { RequestSummary } from "../../../control/http/schemas.js"
import { Filter } from "../../ui/filter.js"
import { type Model, rateOf } from "../data/model.js"
import { focusSoon } from "../focus.js"
import { useNarrow } from "../narrow.js"
import { RequestRow } from "./requestRow.js"

/** Rows before and after those in sight. */
const spare = 4

const matches = (
  { client, method, operation, path, status, token }: RequestSummary,
  words: ReadonlyArray<string>
): boolean => {
  const text = `${method} ${path} ${status ?? ""} ${client ?? ""} ${token ?? ""} ${operation ?? ""}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** Says that the list is a sample. */
const Rate = ({ model, now }: { readonly model: Model; readonly now: number }) => {
  const { leftOut, rate } = rateOf(model, now)
  return (
    <>
      <span class="soft">{model.total.toLocaleString("en")} since the start</span>
      {rate >= 1 && <span class="tag">{Math.round(rate).toLocaleString("en")} a second</span>}
      {leftOut > 0 && <span class="tag warn">Sampled: the list lacks {Math.ceil(leftOut * 100)} %</span>}
    </>
  )
}

/** Shows a list while it is scrolled to its start, and keeps the former one in sight while it is not. */
const useStill = (list: ReadonlyArray<RequestSummary>) => {
  const [still, setStill] = useState<ReadonlyArray<RequestSummary>>()
  const newest = still?.at(-1)?.id ?? 0
  const later = still === undefined ? 0 : list.length - 1 - list.findLastIndex(({ id }) => id <= newest)
  return {
    shown: still ?? list,
    later,
    hold: () => setStill((before) => before ?? list),
    release: () => setStill(undefined)
  }
}

export const Requests = ({ model, now, onSelect, selected }: {
  readonly model: Model
  readonly now: number
  readonly selected: number | undefined
  readonly onSelect: (id: number) => void
}) => {
  const [filter, setFilter] = useState("")
  const [scroll, setScroll] = useState(0)
  const [active, setActive] = useState<number>()
  const box = useRef<HTMLDivElement>(null)
  const rowHeight = useNarrow() ? 54 : 30
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== "")
  const { hold, later, release, shown } = useStill(model.requests)
  const found = words.length === 0 ? shown : shown.filter((request) => matches(request, words))
  const { instance } = model.snapshot
  useEffect(() => {
    release()
    setActive(undefined)
    box.current?.scrollTo(0, 0)
  }, [instance, model.total === 0])

  const height = box.current?.clientHeight ?? 420
  const first = Math.max(0, Math.floor(scroll / rowHeight) - spare)
  const last = Math.min(found.length, Math.ceil((scroll + height) / rowHeight) + spare)
  const rows = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index)
  const at = (index: number) => found[found.length - 1 - index]
  const activeIndex = active === undefined ? -1 : found.length - 1 - found.findLastIndex(({ id }) => id === active)

  const onScroll = () => {
    const top = box.current?.scrollTop ?? 0
    setScroll(top)
    if (top > 0) hold()
    else release()
  }
  const toStart = () => {
    release()
    box.current?.scrollTo(0, 0)
  }
  const move = (index: number) => {
    const to = Math.min(found.length - 1, Math.max(0, index))
    const request = at(to)
    if (request === undefined || box.current === null) return
    if (to > 0) hold()
    setActive(request.id)
    const { scrollTop } = box.current
    if (to * rowHeight < scrollTop) box.current.scrollTop = to * rowHeight
    else if ((to + 1) * rowHeight > scrollTop + height) box.current.scrollTop = (to + 1) * rowHeight - height
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / rowHeight) - 1)
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: activeIndex + 1,
      ArrowUp: activeIndex - 1,
      PageDown: activeIndex + page,
      PageUp: activeIndex - page,
      Home: 0,
      End: found.length - 1
    }
    const to = moves[event.key]
    if (to !== undefined) move(to)
    else if ((event.key === "Enter" || event.key === " ") && active !== undefined) {
      onSelect(active)
      focusSoon("details")
    } else return
    event.preventDefault()
  }
  return (
    <>
      <div class="row head">
        <h2 id="requests">Requests</h2>
        <Rate model={model} now={now} />
        <Filter
          class="push filter"
          label="Filter requests"
          placeholder="Filter: 429 /actions"
          value={filter}
          onChange={setFilter}
        />
      </div>
      <div class="list">
        {later > 0 && (
          <button type="button" class="strong later" onClick={toStart}>{later.toLocaleString("en")} newer</button>
        )}
        <div
          ref={box}
          id="request-rows"
          class="rows"
          role="grid"
          aria-labelledby="requests"
          aria-rowcount={found.length}
          aria-colcount={7}
          aria-activedescendant={activeIndex >= 0 && activeIndex < found.length ? `request-${active}` : undefined}
          tabIndex={0}
          onScroll={onScroll}
          onKeyDown={onKeyDown}
        >
          <div class="space" role="presentation" style={{ height: `${found.length * rowHeight}px` }}>
            {rows.map((index) => {
              const request = at(index)
              return request === undefined ? null : (
                <RequestRow
                  key={request.id}
                  request={request}
                  index={index}
                  top={index * rowHeight}
                  active={request.id === active}
                  selected={request.id === selected}
                  onSelect={(id) => {
                    setActive(request.id)
                    onSelect(id)
                  }}
                />
              )
            })}
          </div>
          {found.length === 0 && (
            <p class="soft nothing">
              {words.length > 0
                ? "No request matches."
                : "No request yet. Send one to this tenant, and it appears here."}
            </p>
          )}
        </div>
      </div>
    </>
  )
}
