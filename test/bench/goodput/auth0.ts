/** The vendor's own SDK with its defaults, its two retries among them. */
import { sdkClient } from "./sdk.js"

sdkClient()
