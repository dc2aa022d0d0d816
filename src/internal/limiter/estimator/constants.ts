/**
 * The tuned constants of the estimator. Those with "Alone" or "Shared" were tuned on simulated servers, for the most goodput
 * with at most 1 % of the requests refused, or 5 % where two clients share a bucket that refills; the others say their reason.
 * `npm run bench:seeds -- --set marginAlone=0.5` shows what another value does to one client (Alone), with `--clients 2` to two
 * (Shared); `npm run bench:goodput` measures over sockets. `test/limiter/goodput.test.ts` checks the values on twenty servers.
 */

/** In milliseconds. */
export const second = 1000

export const constants = {
  /**
   * The calls left unused while no other client is known, as a part of the limit less one, at most one call: a new client then
   * finds calls left. Alone and Shared.
   */
  marginAlone: 0.7,
  /** The same while others use the bucket. Near the middle: as far from a refusal as from a full bucket, which loses calls. Shared. */
  marginShared: 0.45,
  /** The calls left unused in a large shared bucket, per square root of its limit: others may arrive at the same moment. Shared. */
  marginPerRoot: 0.4,
  /** The part of what is left that may be in flight at once: two clients must not overrun the bucket with their first calls, so less than half. */
  inFlightShare: 0.4,
  /** The number of responses kept to measure the rate; each new one is compared with all of them. */
  maxSamples: 32,
  /** The least time between two of them, in milliseconds: shorter gaps measure the network. */
  sampleGap: 50,
  /** The own part of the first rate, where the first response shows another client: half for each of two. */
  firstRateShare: 0.5,
  /**
   * The growth of the rate with each call that is served without headers, below what is known beforehand: a refusal costs what a
   * hundred calls bring, so at most about 1 % are refused where the prior is too high.
   */
  rateIncreaseToPrior: 1.003,
  /** The number of calls in a row that waited and found the bucket full, after which no other client is assumed: one may be chance. */
  fullResponsesWhenAlone: 2,
  /** The part of the net rate that remains after the first refusal, which shows that the bucket is shared. Shared. */
  netRateAfterFirstRefusal: 0.88,
  /** The part of the net rate that remains after each further refusal. Shared. */
  netRateAfterRefusal: 0.73,
  /** The part of the proven rate that remains after a refusal, except the first. Shared. */
  provenRateAfterRefusal: 0.9,
  /** The greatest part of the net rate that one response takes away. Shared. */
  maxRateLoss: 0.4,
  /** The part of an unexpected surplus of a shared bucket that is spent at once: the other clients see it, too. Shared. */
  surplusSpent: 0.6,
  /** The calls assumed to be left after a refusal. Shared. */
  levelAfterRefusal: 0.45,
  /** After an estimate proved too high, it is set this many calls below the highest level that the response allows. */
  dropAfterSurprise: 1,
  /** The least rate, in calls per millisecond: every wait is finite. */
  minRate: 1e-6,
  /** The least net rate, as a part of the proven rate. Shared. */
  minNetRateShare: 0.4,
  /** The longest wait for room in flight before the estimator looks again, in milliseconds: a call may hang. */
  recheckMillis: 100,
  /** The first rate after a 429 without headers, and the least, in calls per second: a stray one costs about a second. */
  paceFirst: 2,
  paceLeast: 1 / 64,
  /** The part that a rate loses by such a refusal: with it a limit is used to about 98 %. */
  paceDrop: 0.03,
  /** The same for a rate that was reached by doubling. */
  paceDropInSlowStart: 0.5,
  /** The calls that are served until a refused rate is tried again: one of these is refused, about 2 % where a limit counts each gap. */
  paceCallsToPeak: 60,
  /** The multiple of the refused rate at which the limit counts as lifted. */
  paceForgotten: 10
}
