/** Sets of completion indexes as text: `0,2-5,9`. */
import { goQuote } from '@krmkit/meta/go-text'

/** Intervals in ascending order, or an error. */
export type Indexes =
  | { readonly intervals: readonly (readonly [number, number])[]; readonly total: number }
  | { readonly error: string }

/** Parses `text`; every index must be below `completions`. */
export function readIndexes(text: string, completions: number): Indexes {
  const intervals: [number, number][] = []
  let total = 0
  if (text === '') return { intervals, total }
  let last: number | undefined
  for (const part of text.split(',')) {
    const interval = readInterval(part, completions)
    if (typeof interval === 'string') return { error: interval }
    if (last !== undefined && last >= interval[0]) {
      return { error: `non-increasing order, previous: ${last}, current: ${interval[0]}` }
    }
    intervals.push(interval)
    total += interval[1] - interval[0] + 1
    last = interval[1]
  }
  return { intervals, total }
}

/** The first index in both sets; malformed parts are skipped. */
export function firstOverlap(a: string, b: string, completions: number): number | undefined {
  const left = readable(a, completions)
  const right = readable(b, completions)
  let i = 0
  let j = 0
  while (i < left.length && j < right.length) {
    const [from, to] = left[i]!
    const [start, end] = right[j]!
    if (from <= end && start <= to) return Math.max(from, start)
    if (from <= start) i++
    else j++
  }
  return undefined
}

function readable(text: string, completions: number): [number, number][] {
  if (text === '') return []
  return text
    .split(',')
    .map((part) => readInterval(part, completions))
    .filter((interval) => typeof interval !== 'string')
}

function readInterval(text: string, completions: number): [number, number] | string {
  const limits = text.split('-')
  if (limits.length > 2) {
    return `the fragment ${goQuote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`
  }
  const first = readIndex(limits[0]!, completions)
  if (typeof first === 'string') return first
  if (limits.length === 1) return [first, first]
  const last = readIndex(limits[1]!, completions)
  if (typeof last === 'string') return last
  return first >= last ? `non-increasing order, previous: ${first}, current: ${last}` : [first, last]
}

function readIndex(text: string, completions: number): number | string {
  if (!/^[+-]?[0-9]{1,15}$/.test(text)) return `cannot convert string to integer for index: ${goQuote(text)}`
  const index = Number(text)
  return index >= completions ? `too large index: ${goQuote(text)}` : index
}
