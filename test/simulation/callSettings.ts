/** Settings that several kinds of calls share. Times are in milliseconds. */
export interface CallSettings {
  /** Its number within the process. The calls of one thread run one after the other. */
  readonly id: number
  readonly thread: number
  /** The time before the call. */
  readonly after: number
  /** The time limit of an attempt. */
  readonly timeout?: number
  /** The call is interrupted after this time. */
  readonly interruptAfter?: number
  readonly withoutRetries?: true
  readonly background?: true
  /** The tenant that it is for, if not the first. */
  readonly tenant?: 1
}
