/** Knows which dates exist: `Date.parse` accepts February 30. */

const daysIn = (year: number, month: number): number => {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Checks that a text begins with a date of the calendar, such as `2024-02-29`. */
export const beginsWithDate = (text: string): boolean => {
  const [, year, month, day] = /^([+-]\d{6}|\d{4})-(0[1-9]|1[0-2])-(\d\d)(?!\d)/.exec(text) ?? []
  return Number(day) >= 1 && Number(day) <= daysIn(Number(year), Number(month))
}
