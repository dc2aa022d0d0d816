/**
 * The tuned constants of the estimator. `test/limiter/goodput.test.ts` checks them against twenty simulated servers: goodput of at
 * least 95 % with at most 1 % of the requests refused, or 5 % where two clients share a bucket that refills.
 * `npm run bench:seeds -- --set marginAlone=0.5` shows what another value does to one client, with `--clients 2` to two.
 * `npm run bench:goodput` measures the limiter over sockets.
 */

export const constants = {
  /**
   * The part of what one call leaves in a full bucket that stays unused, one call at most, while no other client is known:
   * a new client then finds calls left.
   */
  marginAlone: 0.7,
  /** The same while others use the bucket: near the middle, as far from a refusal as from a full bucket, which loses calls. */
  marginShared: 0.45,
  /** The calls left unused in a large shared bucket, per square root of its limit: others may arrive at the same moment. */
  marginPerRoot: 0.4,
  /** The part of what is left that may be in flight at once: two clients must not overrun the bucket with their first calls. */
  inFlightShare: 0.4,
  /** The number of responses kept to measure the rate. */
  maxSamples: 32,
  /** The least time between two of them, in milliseconds: over less, one would measure the network. */
  sampleGap: 50,
  /** The least time in which a bucket is expected to fill before its rate is measured, in seconds. */
  minFillSeconds: 1,
  /** The own part of the first rate, where the first response shows that another client is there. */
  firstRateShare: 0.5,
  /** The growth of the rate each time a call that waited finds the bucket full, while no other client uses it. */
  rateIncrease: 1.14,
  /** The number of calls in a row that waited and found the bucket full, after which no other client is assumed. */
  fullResponsesWhenAlone: 2,
  /** The part of the net rate that remains after the first refusal, which shows that the bucket is shared. */
  netRateAfterFirstRefusal: 0.88,
  /** The part of the net rate that remains after each further refusal. */
  netRateAfterRefusal: 0.73,
  /** The part of the proven rate that remains after a refusal, except the first. */
  provenRateAfterRefusal: 0.9,
  /** The part of an unexpected change that is expected to last. */
  lastingChange: 0.8,
  /** The greatest part of the net rate that one response takes away. */
  maxRateLoss: 0.4,
  /** The part of an unexpected surplus of a shared bucket that is spent at once: the other clients see it, too. */
  surplusSpent: 0.6,
  /** The calls assumed to be left after a refusal: half of the one that was missing. */
  levelAfterRefusal: 0.5,
  /** The distance, in calls, by which an estimate that was too high falls below the highest possible level. */
  dropAfterSurprise: 1,
  /** The least rate, in calls per millisecond: every wait is finite. */
  minRate: 1e-6,
  /** The least net rate, as a part of the proven rate. */
  minNetRateShare: 0.4,
  /** The weight of the last call in the average duration of a call. */
  durationWeight: 0.2,
  /** The longest wait for room in flight before the estimator looks again, in milliseconds: a call may hang. */
  recheckMillis: 100
}
