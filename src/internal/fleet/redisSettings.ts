/** Recognizes the failures of a Redis server that last until a setting is changed. */
import * as Predicate from "effect/Predicate"

/** A setting, and what is wrong with it. */
export interface WrongSetting {
  readonly setting: string
  readonly message: string
}

/** What the server says of itself or of its user, by the code of its reply. */
const replies: Readonly<Record<string, string>> = {
  WRONGPASS: "the server refuses its user or password",
  "ERR invalid password": "the server refuses its password", // Redis 5
  NOAUTH: "the server requires a password",
  READONLY: "the server is a read-only replica; name its primary",
  MOVED: "the server is a node of a Redis Cluster and does not have all keys; name a single server",
  CLUSTERDOWN: "the server is a node of a Redis Cluster and does not have all keys; name a single server"
}

/** The code of a TLS handshake that a certificate has ended. */
const certificate = /^\w*(CERT|UNABLE_TO_|HOSTNAME_MISMATCH)\w*$/

/** A command that is refused or unknown, outside of a script or in one. */
const refusal =
  /^NOPERM|^ERR (?:unknown command|.*(?:Unknown Redis command|can't run this command|ACL failure in script))/

/** The command of a refusal: the server names it, or the line of the script that has called it. */
const commandOf = (message: string, script: string): string | undefined => {
  const line = /user_script:(\d+)/.exec(message)?.[1]
  return line === undefined
    ? /'([\w|]+)'/.exec(message)?.[1]?.toLowerCase()
    : /call\('(\w+)'/.exec(script.split("\n")[Number(line) - 1] ?? "")?.[1]?.toLowerCase()
}

/** The code of a reply. Redis 5 and 6 report what a command of a script was refused for as a failure of the script. */
const codeOf = (message: string): string =>
  refusal.test(message)
    ? "NOPERM"
    : /-(READONLY)\b/.exec(message)?.[1] ?? /^(?:ERR invalid password|[A-Z]+)/.exec(message)?.[0] ?? ""

/** Gives a reply its code, as the failures of connections have one. */
export const withCode = (failure: unknown): unknown =>
  failure instanceof Error && failure.name === "ReplyError"
    ? Object.assign(new Error(), { code: codeOf(failure.message) })
    : failure

/** Recognizes the refusal of a database. */
export const isOfDatabase = (failure: unknown): boolean =>
  Predicate.hasProperty(failure, "command") && Predicate.hasProperty(failure.command, "name") &&
  failure.command.name === "select"

/** Finds the wrong setting behind a failure. The server's own words may hold secrets and are not repeated. */
export const wrongSetting = (failure: unknown, script: string, prefix: string): WrongSetting | undefined => {
  if (!(failure instanceof Error)) return undefined
  const { code, message }: { code?: unknown; message: string } = failure
  if (failure.name !== "ReplyError") {
    return typeof code === "string" && certificate.test(code)
      ? {
        setting: "client.tls",
        message: `a certificate is refused (${code}); set the server's ca and servername, or a cert and key of your own`
      }
      : undefined
  }
  const word = codeOf(message)
  const reply = replies[word]
  if (reply !== undefined) return { setting: "url", message: `${reply} (${word})` }
  if (word !== "NOPERM") {
    return isOfDatabase(failure) ? { setting: "url", message: `the server refuses its database (${word})` } : undefined
  }
  const command = commandOf(message, script)
  return {
    setting: "url",
    message: command === undefined
      ? `its user may not use the keys ${prefix}* (NOPERM); allow them with ACL SETUSER`
      : `its user may not run the command ${command} (NOPERM); allow it with ACL SETUSER`
  }
}
