/** A step of the tour: its title, its results, and the requests that reached the tenant meanwhile. */
import { HttpServer } from "@effect/platform"
import { Console, Effect, Layer } from "effect"
import { IdentityClient, RateLimiter, TokenProvider } from "effect-identity-client"
import * as Node from "effect-identity-client/Node"
import * as Tenant from "effect-identity-client/Tenant"
import { bold, dim, green, red, yellow } from "../support/terminal.js"

/** Provides the client for one of the tenant's demo clients, with its own token, rate limiter and connections. */
export const clientOf = (caller: Tenant.Client, limiter = RateLimiter.layer) =>
  Layer.unwrapEffect(HttpServer.addressFormattedWith((origin) =>
    Effect.succeed(
      IdentityClient.layer({ baseUrl: `${origin}/api/v2` }).pipe(
        Layer.provide(limiter),
        Layer.provide(TokenProvider.layerClientCredentials({
          authUrl: origin,
          clientId: caller.id,
          clientSecret: caller.secret
        })),
        Layer.provideMerge(Layer.orDie(Node.layerHttpClient))
      )
    )
  ))

export const success = (text: string) => Console.log(`   ${green("✓")} ${text}`)
export const failure = (text: string) => Console.log(`   ${red("✗")} ${text}`)
export const note = (text: string) => Console.log(dim(`     ${text}`))

/** The status of a request and its route; a file of an export has a path, but no route. */
const wireLine = ({ method, operation, path, status = 0 }: Tenant.ReceivedRequest) => {
  const route = Tenant.routes.find((route) => route.operation === operation)?.path ?? path
  const colour = status < 400 ? green : status === 429 ? yellow : red
  return `     ${colour(String(status))} ${dim(`${method} ${route}`)}`
}

/** Prints the requests that reached the tenant while an effect ran; equal ones in a row are one line. */
const withWire = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const { requests } = yield* Tenant.Tenant
    const before = (yield* requests).length
    const result = yield* effect
    const lines = (yield* requests).slice(before).map(wireLine)
    const starts = lines.flatMap((line, index) => line === lines[index - 1] ? [] : [index])
    yield* Effect.forEach(starts, (start, nth) => {
      const times = (starts[nth + 1] ?? lines.length) - start
      return Console.log(`${lines[start]}${times > 1 ? dim(`, ${times} times`) : ""}`)
    })
    return result
  })

/** Runs an effect under a title and prints its requests. */
export const step = <A, E, R>(title: string, effect: Effect.Effect<A, E, R>) =>
  Effect.withSpan(Effect.zipRight(Console.log(`\n${bold(title)}`), withWire(effect)), title)
