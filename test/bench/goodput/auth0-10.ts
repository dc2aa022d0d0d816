/** The vendor's own SDK with ten retries: the setting that suits it best under a limit. */
import { sdkClient } from "./sdk.js"

sdkClient(10)
