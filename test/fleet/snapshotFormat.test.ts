import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { type FleetSnapshot, makeFormat } from "../../src/internal/fleet/snapshotFormat.js"
import { nothing } from "../support/adaptive.js"
import { format, key, limitsOf, many, member, tenant } from "../support/fleetStore.js"

const now = 1_900_000_000_000

const stored: FleetSnapshot = {
  writtenAt: now,
  members: {
    x: member(now, {
      waiting: 3,
      blocked: [{ operation: "b", since: now - 900, isBackground: true }],
      buckets: { 1: 2 },
      operations: { a: 2 }
    })
  },
  limits: limitsOf(now, { ...many, operations: ["a", "b"] })
}

/** A value of version 4, as the first release with it stored it: later releases must read it, or have another version. */
const early = {
  version: 4,
  writtenAt: 1_900_000_000_000,
  members: { x: [[5, 0, 5], [[3, 70, 0]], [[1, 1]], [[0, 1], [-1, 2]]] },
  tenant: [1, 90],
  unknown: [
    [null, 0, 0, 50, 0.000001, 0.000001, 0, 0, 50, 3, 1, 1, 0, null, 0, null, 50, null, 0, 1],
    [0, null, null, 0, 50, 0, 0],
    []
  ],
  buckets: [[
    "1",
    100,
    [
      [100, 0, 49.5, 7, 0.016, 0.017, 1, 49, 7, 2, 1, 1, 0, -500, 0, 7, 127, 9000, 0, 1],
      [0, -1000, 1_900_000_001, 50, 7, 0.02, 25],
      [[127, 7, 51, 52]]
    ]
  ]],
  operations: ["a", "b", "c", "d"],
  drawOn: [0, -1, -2, -3],
  contradictions: [[0, 1]],
  observations: [[0, 127, 7, 50, -1000]],
  ceilings: { 1000: [[3, 1], [[3, 1, 1]]] }
}

describe("the format of a fleet's state", () => {
  it("keeps every value, infinities and absent ones included", () => {
    for (const snapshot of [stored, { ...stored, members: {}, limits: nothing }]) {
      const { version: _, ...decoded } = { version: 4, ...Option.getOrThrow(format.decode(format.encode(snapshot))) }
      assert.deepStrictEqual(decoded, snapshot)
    }
  })

  it("reads values that earlier releases wrote", () => {
    const text = JSON.stringify(early)
    const snapshot = Option.getOrThrow(format.decode(text))
    const { limits: { buckets: [bucket], operations, startedAt, unknown }, members: { x } } = snapshot
    assert.strictEqual(startedAt, now - 90)
    assert.isUndefined(unknown.limit)
    assert.strictEqual(unknown.window.lastReset, -Infinity)
    assert.deepStrictEqual(x, {
      seenAt: now - 5,
      waiting: 0,
      waitingSince: now - 5,
      blocked: [{ operation: "d", since: now - 70, isBackground: false }],
      inFlight: { operations: { b: 1 }, buckets: { 1: 1, "?": 2 } }
    })
    assert.deepInclude(bucket?.estimator, {
      level: 49.5,
      levelAt: now - 7,
      isShared: true,
      pausedUntil: now + 500,
      samples: [{ sentAt: now - 127, endedAt: now - 7, low: 51, high: 52 }]
    })
    const silent = { startedAt, bucket: undefined, isSilent: true, observations: [], contradictions: 0 }
    assert.deepStrictEqual(operations, {
      a: {
        startedAt,
        bucket: "1",
        isSilent: false,
        observations: [{ sentAt: now - 127, endedAt: now - 7, remaining: 50, fullAt: now + 1000 }],
        contradictions: 1
      },
      b: { ...silent, isSilent: false },
      c: silent,
      d: { ...silent, isSilent: false, startedAt: -Infinity }
    })
    assert.deepStrictEqual(JSON.parse(format.encode(snapshot)), early)
  })

  it("has its version in the value and in the key", () => {
    assert.strictEqual(key, `limit:4:${tenant}`)
    assert.strictEqual(makeFormat(5).keyOf(tenant), `limit:5:${tenant}`)
    assert.strictEqual(JSON.parse(format.encode(stored)).version, 4)
    assert.isTrue(Option.isNone(format.decode(makeFormat(5).encode(stored))))
  })

  const { writtenAt: _, ...incomplete } = early
  for (
    const [title, value] of [
      ["nothing", ""],
      ["other text", "{"],
      ["another value", "[]"],
      ["null", "null"],
      ["no version", JSON.stringify({ ...early, version: undefined })],
      ["a missing field", JSON.stringify(incomplete)],
      ["a field of another type", JSON.stringify({ ...early, writtenAt: "x" })],
      ["a damaged member", JSON.stringify({ ...early, members: { x: 3 } })],
      ["a damaged count", JSON.stringify({ ...early, members: { x: [[5, 0, 5], [], [["1", 1]], []] } })],
      ["an endless count", JSON.stringify({ ...early, members: { x: [[5, 0, null], [], [], []] } })],
      ["damaged limits", JSON.stringify({ ...early, buckets: "x" })],
      ["a damaged estimate", JSON.stringify({ ...early, unknown: {} })],
      [
        "an estimate with a field less",
        JSON.stringify({ ...early, unknown: [early.unknown[0]?.slice(1), ...early.unknown.slice(1)] })
      ],
      ["a damaged operation", JSON.stringify({ ...early, operations: [null] })],
      ["an empty ceiling", JSON.stringify({ ...early, ceilings: { 1000: [] } })]
    ] as const
  ) {
    it(`does not match ${title}`, () => {
      assert.isTrue(Option.isNone(format.decode(value)))
    })
  }
})
