/** Compares what two sides show. */
import { known } from './known.ts'

export interface Observed {
  readonly objects: readonly string[]
  readonly events: readonly string[]
}

/** Returns a text for each difference; empty when there is none. */
export function compare(own: Observed, stock: Observed): string[] {
  return [...compareObjects(own.objects, stock.objects), ...compareEvents(own.events, stock.events)]
}

function compareEvents(own: readonly string[], stock: readonly string[]): string[] {
  const isOpen = (event: string) => !known.some(({ pattern }) => pattern.test(event))
  return [
    ...own.filter((event) => !stock.includes(event) && isOpen(event)).map((event) => `event only of krmkit: ${event}`),
    ...stock.filter((event) => !own.includes(event) && isOpen(event)).map((event) => `event only of stock:  ${event}`),
  ]
}

/** Pairs the objects that only one side has, the most similar first, and compares them line by line. */
function compareObjects(own: readonly string[], stock: readonly string[]): string[] {
  const rest = [...stock]
  const unmatched: string[] = []
  for (const object of own) {
    const at = rest.indexOf(object)
    if (at >= 0) rest.splice(at, 1)
    else unmatched.push(object)
  }
  const problems: string[] = []
  for (const object of unmatched) {
    const candidates = rest.filter((each) => headOf(each) === headOf(object))
    const best = candidates.sort((a, b) => diff(object, a).length - diff(object, b).length)[0]
    if (best === undefined) {
      problems.push(`object only of krmkit: ${object}`)
      continue
    }
    rest.splice(rest.indexOf(best), 1)
    problems.push(
      `${headOf(object)} ${/"name": "([^"]*)"\s*(?:,\s*"ownerReferences[^}]*)?\s*\}/.exec(object)?.[1] ?? ''}:\n${diff(object, best).join('\n')}`,
    )
  }
  for (const object of rest) problems.push(`object only of stock: ${object}`)
  return problems
}

function headOf(object: string): string {
  return object.slice(0, object.indexOf(' '))
}

/** The lines that differ, in the order of a longest common subsequence: `-` of krmkit, `+` of the stock controllers. */
function diff(a: string, b: string): string[] {
  const [left, right] = [a.split('\n'), b.split('\n')]
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1))
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      lengths[i]![j] = left[i] === right[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
    }
  }
  const lines: string[] = []
  let [i, j] = [0, 0]
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      i++
      j++
    } else if (j >= right.length || (i < left.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      lines.push(`  - ${left[i++]}`)
    else lines.push(`  + ${right[j++]}`)
  }
  return lines
}
