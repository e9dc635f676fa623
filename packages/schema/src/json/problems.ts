import { goQuote } from '@krmkit/meta/go-text'

/** Collects strict decoding problems: duplicate and unknown fields with their paths, in document order. */

/** kube-apiserver's limit. */
export const maxProblems = 100

/** Maximum characters of one problem and of all problems. Differs: kube-apiserver prints names and paths of any length. */
const maxProblemLength = 4096
const maxProblemsLength = 64 * 1024

/** Current path and problems of one decoding. */
export class ProblemCollector {
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

  /** Replaces the path, for callers that track it themselves. */
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

  /** Whether the limit is reached. */
  get full(): boolean {
    return this.#found.size >= maxProblems || this.#length >= maxProblemsLength
  }

  /** Length of the current path. */
  get depth(): number {
    return this.#path.length
  }

  get list(): readonly string[] {
    return this.#found.size === 0 ? noProblems : [...this.#found]
  }

  #add(what: 'unknown' | 'duplicate', key: string): void {
    if (this.full) return
    const path = formatPath(this.#path)
    const problem = `${what} field ${goQuote(truncatePath(path === '' ? key : `${path}.${key}`))}`
    if (this.#found.has(problem)) return
    this.#found.add(problem)
    this.#length += problem.length
  }
}

const noProblems: readonly string[] = Object.freeze([])

/** Truncates a path that is too long to print. */
export function truncatePath(path: string): string {
  return path.length <= maxProblemLength ? path : `${path.slice(0, maxProblemLength)}...`
}

/** For example `spec.containers[0].name`. */
export function formatPath(path: readonly (string | number)[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? step : `.${step}`
  }
  return text
}
