/** The smallest plans of what simulations have found in `src`, each named by what it broke. */
import type { Plan, ProcessPlan } from "./plan.js"

const calm = {
  isFleet: false,
  permute: false,
  preempt: 0,
  latency: { network: [0, 0], store: [0, 0], disk: [0, 0] },
  service: { burst: 10, perSecond: 10, tokenLifetime: 600, skew: 0 },
  faults: [],
  storeFaults: [],
  diskFaults: [],
  revocations: []
} as const

const quiet = { skew: 0, leaps: [], crashes: [], pauses: [] } as const

const redelivery = (process: Partial<ProcessPlan>, events: ReadonlyArray<number>): ProcessPlan => ({
  ...quiet,
  id: 0,
  calls: [{ id: 0, thread: 0, after: 7, kind: "redelivery", journal: 0, events, concurrency: 4, lockExpiry: 1653 }],
  ...process
})

export const regressions: Readonly<Record<string, Plan>> = {
  "an event whose response came from another host is unknown, not failed": {
    ...calm,
    seed: 6,
    processes: [redelivery({}, [3])],
    faults: [{ key: "p0c0e3", nth: 0, kind: "elsewhere", status: 401 }]
  },
  "a process whose clock is ahead, and whose first write got no response, stops no fleet": {
    ...calm,
    seed: 191,
    isFleet: true,
    latency: { network: [1, 400], store: [0, 0], disk: [0, 0] },
    service: { burst: 11, perSecond: 15, tokenLifetime: 60, skew: 0 },
    processes: [
      { ...quiet, id: 0, calls: [{ id: 2, thread: 1, after: 3, kind: "update" }] },
      redelivery({
        id: 1,
        skew: 9_092_438,
        pauses: [{ at: 318, for: 366 }],
        calls: [
          { id: 2, thread: 0, after: 8, timeout: 39_225, kind: "list" },
          {
            id: 4,
            thread: 3,
            after: 17,
            timeout: 39_769,
            kind: "redelivery",
            journal: 0,
            events: [],
            concurrency: 3,
            lockExpiry: 250
          }
        ]
      }, [])
    ],
    faults: [{ key: "p0token", nth: 0, kind: "refused" }],
    storeFaults: [{ kind: "slow", from: 217, for: 49_422 }]
  },
  "a time limit ends in time when the clock is set back": {
    ...calm,
    seed: 612,
    processes: [{
      ...quiet,
      id: 0,
      leaps: [{ at: 9736, by: -47_347_181 }],
      calls: [{ id: 1, thread: 1, after: 164, kind: "redeliver" }]
    }],
    faults: [{ key: "p0c1", nth: 0, kind: "silent" }]
  },
  "a fleet member whose clock is set back while its calls wait goes on": {
    "seed": 2115,
    "isFleet": true,
    "permute": false,
    "preempt": 0,
    "latency": { "network": [1, 5000], "store": [1, 40], "disk": [0, 0] },
    "service": { "burst": 23, "perSecond": 1, "tokenLifetime": 86400, "skew": 0 },
    "processes": [{
      "id": 0,
      "skew": 0,
      "leaps": [{ "at": 29337, "by": -14831322 }],
      "crashes": [],
      "pauses": [{ "at": 17038, "for": 45398 }],
      "calls": [{ "id": 1, "thread": 1, "after": 18, "timeout": 1729, "kind": "burst", "times": 23 }, {
        "id": 4,
        "thread": 1,
        "after": 256,
        "kind": "update"
      }]
    }],
    "faults": [],
    "storeFaults": [],
    "diskFaults": [],
    "revocations": []
  },
  "calls that are interrupted at once leave no permit in flight": {
    "seed": 2017,
    "isFleet": true,
    "permute": true,
    "preempt": 0.1,
    "latency": { "network": [1, 5000], "store": [0, 0], "disk": [0, 0] },
    "service": { "burst": 32, "perSecond": 16, "tokenLifetime": 600, "skew": 0 },
    "processes": [{
      "id": 0,
      "skew": 0,
      "leaps": [],
      "crashes": [],
      "pauses": [],
      "calls": [{ "id": 2, "thread": 3, "after": 1, "timeout": 170, "kind": "export" }]
    }, {
      "id": 1,
      "skew": 46592248,
      "leaps": [],
      "crashes": [{ "kind": "crash", "steps": 46, "downFor": 7 }, { "kind": "crash", "steps": 481, "downFor": 26 }],
      "pauses": [{ "at": 42, "for": 636 }],
      "calls": [{ "id": 2, "thread": 2, "after": 519, "background": true, "kind": "redeliver" }, {
        "id": 3,
        "thread": 1,
        "after": 6534,
        "timeout": 831,
        "interruptAfter": 36498,
        "kind": "burst",
        "times": 26
      }]
    }],
    "faults": [{ "key": "p0token", "nth": 0, "kind": "slow", "leg": "request", "millis": 46826 }, {
      "key": "p1token",
      "nth": 0,
      "kind": "refused"
    }, { "key": "p1c3", "nth": 3, "kind": "tracer" }],
    "storeFaults": [{ "kind": "slow", "from": 7098, "for": 2373 }],
    "diskFaults": [],
    "revocations": [187]
  },
  "a reader that yields before it waits misses no result": {
    ...calm,
    seed: 68,
    permute: true,
    preempt: 0.1,
    latency: { network: [1, 30], store: [0, 0], disk: [0, 5] },
    service: { burst: 27, perSecond: 8, tokenLifetime: 600, skew: 0 },
    processes: [redelivery({}, [0, 1, 0, 1])]
  },
  "a call that left before the process knew the store's clock measures no rate": {
    ...calm,
    seed: 1695,
    isFleet: true,
    service: { burst: 2, perSecond: 2, tokenLifetime: 60, skew: 0 },
    processes: [
      { ...quiet, id: 0, calls: [{ id: 0, thread: 3, after: 38, kind: "burst", times: 20 }] },
      { ...quiet, id: 2, calls: [{ id: 3, thread: 1, after: 14, kind: "burst", times: 13 }] }
    ]
  },
  "calls before and after the clock is set back prove no rate": {
    "seed": 7805,
    "isFleet": true,
    "permute": true,
    "preempt": 0.05,
    "latency": {
      "network": [
        1,
        30
      ],
      "store": [
        1,
        40
      ],
      "disk": [
        0,
        0
      ]
    },
    "service": {
      "burst": 15,
      "perSecond": 1,
      "tokenLifetime": 86400,
      "skew": 0
    },
    "processes": [
      {
        "id": 0,
        "skew": 0,
        "leaps": [],
        "crashes": [
          {
            "kind": "stop",
            "steps": 46,
            "downFor": 6
          },
          {
            "kind": "stop",
            "steps": 4,
            "downFor": 381
          }
        ],
        "pauses": [],
        "calls": [
          {
            "id": 1,
            "thread": 0,
            "after": 9,
            "timeout": 2624,
            "kind": "update"
          }
        ]
      },
      {
        "id": 1,
        "skew": 0,
        "leaps": [],
        "crashes": [],
        "pauses": [],
        "calls": [
          {
            "id": 0,
            "thread": 0,
            "after": 427,
            "kind": "update"
          },
          {
            "id": 1,
            "thread": 0,
            "after": 14,
            "withoutRetries": true,
            "background": true,
            "kind": "redelivery",
            "journal": 0,
            "events": [
              0
            ],
            "concurrency": 2,
            "lockExpiry": 165
          },
          {
            "id": 2,
            "thread": 0,
            "after": 505,
            "timeout": 48511,
            "kind": "burst",
            "times": 2
          },
          {
            "id": 6,
            "thread": 0,
            "after": 33,
            "kind": "list"
          }
        ]
      },
      {
        "id": 2,
        "skew": 2065,
        "leaps": [
          {
            "at": 119,
            "by": 57749816
          }
        ],
        "crashes": [],
        "pauses": [],
        "calls": [
          {
            "id": 0,
            "thread": 1,
            "after": 74,
            "timeout": 51,
            "kind": "export"
          },
          {
            "id": 1,
            "thread": 2,
            "after": 3,
            "kind": "update"
          },
          {
            "id": 2,
            "thread": 2,
            "after": 3,
            "interruptAfter": 140,
            "kind": "list"
          },
          {
            "id": 3,
            "thread": 0,
            "after": 10,
            "interruptAfter": 2394,
            "kind": "pages"
          },
          {
            "id": 4,
            "thread": 1,
            "after": 2,
            "kind": "list"
          },
          {
            "id": 5,
            "thread": 1,
            "after": 2,
            "kind": "delete"
          }
        ]
      }
    ],
    "faults": [
      {
        "key": "p0token",
        "nth": 0,
        "kind": "truncated"
      },
      {
        "key": "p0token",
        "nth": 1,
        "kind": "status",
        "status": 403,
        "carriedOut": false,
        "body": "secret"
      },
      {
        "key": "p2token",
        "nth": 0,
        "kind": "lost"
      }
    ],
    "storeFaults": [
      {
        "kind": "down",
        "from": 36,
        "for": 7328
      },
      {
        "kind": "hung",
        "from": 3,
        "for": 427
      }
    ],
    "diskFaults": [],
    "revocations": [
      3291
    ]
  }
}
