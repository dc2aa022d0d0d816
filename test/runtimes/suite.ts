/** All tests. They need an `HttpClient` and the stage, and nothing of a certain runtime. */
import type { Test } from "./kit.js"
import type { Matrix } from "./scenes.js"
import { failures } from "./suite/failures.js"
import { faults } from "./suite/faults.js"
import { operations } from "./suite/operations.js"
import { privateKey } from "./suite/privateKey.js"
import { surroundings } from "./suite/surroundings.js"
import { streams, time } from "./suite/time.js"
import { limits, tokens } from "./suite/tokens.js"

export const suite = (matrix: Matrix): ReadonlyArray<Test> => [
  ...operations,
  ...failures,
  ...tokens,
  ...privateKey,
  ...limits,
  ...time,
  ...streams,
  ...surroundings,
  ...faults(matrix)
]
