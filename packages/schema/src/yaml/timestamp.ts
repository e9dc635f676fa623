/** Whether YAML 1.1 reads a text as a timestamp: a date, or a date and time with short fields allowed. */
export function isTimestamp(text: string): boolean {
  const match = withZone.exec(text) ?? withoutZone.exec(text)
  if (match === null) return false
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(month, year) || hour > 23 || minute > 59 || second > 59) return false
  return Number(match[7] ?? 0) <= 24 && Number(match[8] ?? 0) <= 60
}

const date = '([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})'
const time = '([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,][0-9]+)?'
const zone = '(?:Z|[-+]([0-9]{2}):([0-9]{2}))'
/** Only the form with a T has a zone, and it requires one. */
const withZone = new RegExp(`^${date}[Tt]${time}${zone}$`)
const withoutZone = new RegExp(`^${date}(?: ${time})?$`)

function daysIn(month: number, year: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
}
