import { Console, Effect } from "effect"
import { getJob } from "effect-identity-client"

export const program = getJob({ id: "job_Xk29sLmQw4RtYv7B" }).pipe(
  Effect.tap((value) => Console.log(value)),
  // Other failures remain in the type of the program.
  Effect.catchTag("NotFound", ({ message }) => Console.log(message))
)
