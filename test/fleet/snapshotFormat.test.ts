import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import { type FleetSnapshot, makeFormat } from "../../src/internal/fleet/snapshotFormat.js"
import { nothing } from "../support/adaptive.js"
import { callOf, format, key, limitsOf, many, member, tenant } from "../support/fleetStore.js"

const now = 1_900_000_000_000

const stored: FleetSnapshot = {
  writtenAt: now,
  members: { x: member(now, { waiting: 3, buckets: { 1: 2 }, operations: { a: 2 } }) },
  limits: limitsOf(now, { ...many, operations: ["a", "b"] })
}

/** A value of version 2, as the first release stored it: later releases must read it, or have another version. */
const early = {
  version: 2,
  writtenAt: 1_900_000_000_000,
  members: {
    x: {
      seenAt: 1_900_000_000_000,
      waiting: 0,
      waitingSince: 1_900_000_000_000,
      inFlight: { operations: { a: 1 }, buckets: { 1: 1 } }
    }
  },
  limits: {
    bucketCount: 1,
    startedAt: "-Infinity",
    unknown: {
      isPrior: false,
      limit: null,
      level: 0,
      levelAt: 0,
      netRate: 0.000001,
      provenRate: 0.000001,
      isShared: false,
      reported: 0,
      reportedAt: 0,
      callMillis: 0,
      started: 0,
      ended: 0,
      served: 0,
      rateLimited: 0,
      pausedUntil: "-Infinity",
      latest: "-Infinity",
      lastSentAt: 0,
      loweredAt: "-Infinity",
      fullResponses: 0,
      isRecovering: false,
      isProbing: false,
      maxInFlight: 1,
      refusalsInRow: 0,
      samples: [],
      window: {
        isFound: false,
        isNew: false,
        endsAt: 0,
        lastReset: "-Infinity",
        lastLeft: 0,
        beganAt: 0,
        length: "Infinity",
        minSecondsPerCall: 0,
        minCallsPerSecond: 0,
        refusals: 0
      }
    },
    buckets: [],
    operations: {
      a: {
        startedAt: 1_900_000_000_000,
        bucket: null,
        isSilent: true,
        observations: [{ sentAt: 1, endedAt: 2, remaining: 3, fullAt: 4 }],
        contradictions: 0
      }
    },
    ceilings: { 1000: { started: 3, latest: 1_900_000_000_000, groups: [{ first: 3, calls: 1, at: 1 }] } }
  }
}

describe("the format of a fleet's state", () => {
  it("keeps every value, infinities and absent ones included", () => {
    for (const snapshot of [stored, { ...stored, members: {}, limits: nothing }]) {
      const { version: _, ...decoded } = { version: 2, ...Option.getOrThrow(format.decode(format.encode(snapshot))) }
      assert.deepStrictEqual(decoded, snapshot)
    }
  })

  it("reads values that earlier releases wrote", () => {
    const text = JSON.stringify(early)
    const snapshot = Option.getOrThrow(format.decode(text))
    assert.deepStrictEqual(JSON.parse(format.encode(snapshot)), early)
    assert.strictEqual(snapshot.limits.startedAt, -Infinity)
    assert.isUndefined(snapshot.limits.unknown.limit)
    assert.deepStrictEqual(snapshot.limits.operations, {
      a: { ...early.limits.operations.a, bucket: undefined }
    })
  })

  it("has its version in the value and in the key", () => {
    assert.strictEqual(key, `limit:2:${tenant}`)
    assert.strictEqual(makeFormat(3).keyOf(tenant), `limit:3:${tenant}`)
    assert.strictEqual(JSON.parse(format.encode(stored)).version, 2)
    assert.isTrue(Option.isNone(format.decode(makeFormat(3).encode(stored))))
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
      [
        "a damaged count",
        JSON.stringify({ ...early, members: { x: { ...early.members.x, inFlight: { operations: { a: "1" } } } } })
      ],
      ["damaged limits", JSON.stringify({ ...early, limits: { ...early.limits, buckets: "x" } })],
      ["a damaged estimate", JSON.stringify({ ...early, limits: { ...early.limits, unknown: {} } })],
      [
        "a damaged operation",
        JSON.stringify({ ...early, limits: { ...early.limits, operations: { [callOf("a").operation]: null } } })
      ],
      ["an empty operation", JSON.stringify({ ...early, limits: { ...early.limits, operations: { a: {} } } })],
      ["an empty ceiling", JSON.stringify({ ...early, limits: { ...early.limits, ceilings: { 1000: {} } } })]
    ] as const
  ) {
    it(`does not match ${title}`, () => {
      assert.isTrue(Option.isNone(format.decode(value)))
    })
  }
})
