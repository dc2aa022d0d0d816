/** Writes times, durations and counts for people. */

const digits = (value: number, length: number): string => String(value).padStart(length, "0")

/** The time of the day, with milliseconds. */
export const timeOfDay = (time: number): string => {
  const date = new Date(time)
  const [hours, minutes, seconds] = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) =>
    digits(part, 2)
  )
  return `${hours}:${minutes}:${seconds}.${digits(date.getMilliseconds(), 3)}`
}

/** The day and the time of the day, in seconds. */
export const dayAndTime = (time: number): string => {
  const date = new Date(time)
  const day = [digits(date.getFullYear(), 4), digits(date.getMonth() + 1, 2), digits(date.getDate(), 2)].join("-")
  return `${day} ${timeOfDay(time).slice(0, 8)}`
}

const units = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1000]] as const

/** A length of time in its two largest units. */
export const duration = (millis: number): string => {
  if (millis < 1000) return `${Math.max(0, Math.round(millis))} ms`
  if (millis < 10_000) return `${(millis / 1000).toFixed(1)} s`
  let rest = millis
  const parts = units.flatMap(([name, size]) => {
    const whole = Math.floor(rest / size)
    rest -= whole * size
    return whole === 0 ? [] : [`${whole} ${name}`]
  })
  return parts.slice(0, 2).join(" ")
}

/** The beginning of a token's id, enough to tell tokens apart. */
export const shortId = (id: string): string => id.slice(0, 6)

/** A number of things. It may be unknown: JSON has no infinite numbers, and says `null` for them. */
export const count = (value: number | null | undefined, one: string, many = `${one}s`): string =>
  `${value?.toLocaleString("en") ?? "?"} ${value === 1 ? one : many}`

/** A rate, with one digit where that shows more. */
export const rate = (value: number): string => String(Math.round(value * 10) / 10)

/** A number of calls: whole, or with one digit where that shows more. */
export const level = (value: number): string =>
  value < 10 && value % 1 > 0.05 ? value.toFixed(1) : String(Math.floor(value))
