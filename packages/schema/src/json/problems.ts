import { goQuote } from '@krmkit/meta'

/**
 * Collects what strict decoding objects to: repeated and unknown fields, with their paths, in document order.
 */

/** As many as the stock server reports. */
export const maxProblems = 100

/** Characters of one problem, and of all. Differs: the stock server prints names and paths of any length. */
const maxProblemLength = 4096
const maxProblemsLength = 64 * 1024

/** The place of a value, and the problems found so far. Used by one decoding at a time. */
export class Problems {
  readonly #found = new Set<string>()
  readonly #path: (string | number)[] = []
  #length = 0

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

  /** Nothing more is collected. */
  get full(): boolean {
    return this.#found.size >= maxProblems || this.#length >= maxProblemsLength
  }

  /** How deep the place is. */
  get depth(): number {
    return this.#path.length
  }

  get list(): readonly string[] {
    return this.#found.size === 0 ? noProblems : [...this.#found]
  }

  #add(what: 'unknown' | 'duplicate', key: string): void {
    if (this.full) return
    const path = formatPath(this.#path)
    const problem = `${what} field ${goQuote(shortened(path === '' ? key : `${path}.${key}`))}`
    if (this.#found.has(problem)) return
    this.#found.add(problem)
    this.#length += problem.length
  }
}

const noProblems: readonly string[] = Object.freeze([])

/** The beginning of a path that is too long to be printed. */
export function shortened(path: string): string {
  return path.length <= maxProblemLength ? path : `${path.slice(0, maxProblemLength)}...`
}

/** `spec.containers[0].name` */
export function formatPath(path: readonly (string | number)[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}
