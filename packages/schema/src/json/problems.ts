import { goQuote } from '@krmkit/meta'

/**
 * Collects what strict decoding objects to: repeated and unknown fields, with their paths, in document order.
 */

/** As many as the stock server reports. */
const maxProblems = 100

/** The place of a value, and the problems found so far. Used by one decoding at a time. */
export class Problems {
  readonly #found = new Set<string>()
  readonly #path: (string | number)[] = []

  /** Enters a member or a list element. */
  enter(step: string | number): void {
    this.#path.push(step)
  }

  leave(): void {
    this.#path.pop()
  }

  /** Replaces the place, for those who keep it themselves. */
  moveTo(path: readonly (string | number)[]): void {
    this.#path.length = 0
    for (const step of path) this.#path.push(step)
  }

  unknown(key: string): void {
    this.#add('unknown', key)
  }

  duplicate(key: string): void {
    this.#add('duplicate', key)
  }

  /** How deep the place is. */
  get depth(): number {
    return this.#path.length
  }

  get list(): readonly string[] {
    return this.#found.size === 0 ? noProblems : [...this.#found]
  }

  #add(what: 'unknown' | 'duplicate', key: string): void {
    if (this.#found.size >= maxProblems) return
    const path = formatPath(this.#path)
    this.#found.add(`${what} field ${goQuote(path === '' ? key : `${path}.${key}`)}`)
  }
}

const noProblems: readonly string[] = Object.freeze([])

/** `spec.containers[0].name` */
export function formatPath(path: readonly (string | number)[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}
