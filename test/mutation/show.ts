/** `npx tsx test/mutation/show.ts limits`: what survived a part's last run and is not listed, with the line where it is. */
import { readFileSync } from "node:fs"
import { parts } from "./parts.js"
import { faultOf } from "./survivors.js"

for (const name of process.argv.slice(2)) {
  const part = parts.find((part) => part.name === name)!
  for (const result of JSON.parse(readFileSync(`.mutation/${name}.json`, "utf8"))) {
    if (result.status !== "Survived" && result.status !== "NoCoverage") continue
    const fault = faultOf(result)
    if (part.survivors.some(({ faults }) => faults[result.fileName]?.includes(fault))) continue
    const { column, line } = result.location.start
    console.log(
      `${result.fileName}:${line + 1}:${column + 1} ${result.mutatorName} ${
        result.status === "NoCoverage" ? "(no test)" : ""
      }`
    )
    console.log(`    ${readFileSync(result.fileName, "utf8").split("\n")[line]!.trim()}`)
    console.log(`    ${JSON.stringify(fault)}`)
  }
}
