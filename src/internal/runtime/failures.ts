/** Judges and names failures. */

/** The fields of a failure that programs may read. */
interface Failure {
  readonly _tag: string
  readonly code?: string
  readonly status?: number
}

/** Names a failure in a log line: by its tag, and its status or code. Its message may hold text of the service. */
export const failureName = ({ _tag, code, status }: Failure): string => {
  const detail = status === undefined ? code : `status ${status}`
  return detail === undefined ? _tag : `${_tag} (${detail})`
}

/** Checks that a status says that the service is unavailable, or was too slow. */
export const isTemporaryStatus = (status: number): boolean => status === 408 || status >= 500

/** Checks that another request for a token may succeed: no response came, or one that says so. */
export const isTemporaryTokenError = ({ code, status }: Failure): boolean =>
  code !== undefined || status === 429 || (status !== undefined && isTemporaryStatus(status))
