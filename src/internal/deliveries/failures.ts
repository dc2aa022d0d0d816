/** Selects the attempts of a delivery that failed: `retrying` only marks an accepted redelivery. */

/** The attempts that failed, in the order of the service. */
export const failures = <Attempt extends { readonly status: string }>(
  { attempts }: { readonly attempts: ReadonlyArray<Attempt> }
): ReadonlyArray<Attempt> => attempts.filter(({ status }) => status === "failed")
