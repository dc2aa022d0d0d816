/** Runs any command in this process. */
import { command } from "./command.js"
import { runInProcess } from "./process.js"

export const main = (args: ReadonlyArray<string>): void => runInProcess(command(args))
