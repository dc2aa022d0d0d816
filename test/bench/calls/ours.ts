/** This library, in the variant that the environment names. */
import { client } from "./client.js"
import { make, type Variant } from "./variants.js"

void client((origin) => make(origin, process.env["VARIANT"] as Variant)) // sound: `scenarios.ts` sets it
