import type { DeepReadonly } from '@krmkit/meta'
import type { Toleration } from './pod.ts'

/** Set algebra of tolerations. */

type Given = DeepReadonly<Toleration>

/** Both lists as one; what another toleration covers is left out, and of equal ones the first stays. */
export function mergeTolerations(first: readonly Given[], second: readonly Given[]): Toleration[] {
  const all = [...first, ...second]
  const later = new Cover()
  const coveredLater = new Set<number>()
  for (let i = all.length - 1; i >= 0; i--) {
    const each = all[i] as Given
    if (later.covers(each, { butEqual: true })) coveredLater.add(i)
    later.add(each)
  }
  const merged: Toleration[] = []
  const kept = new Cover()
  for (const [i, each] of all.entries()) {
    if (kept.covers(each) || coveredLater.has(i)) continue
    kept.add(each)
    merged.push({ ...each })
  }
  return merged
}

/** Whether every toleration is covered by one of the list. An empty list allows all. */
export function areAllowed(tolerations: readonly Given[], allowed: readonly Given[]): boolean {
  if (allowed.length === 0) return true
  const cover = new Cover()
  for (const each of allowed) cover.add(each)
  return tolerations.every((each) => cover.covers(each))
}

/** How long the tolerations of one sort hold, and how long those hold that differ from the longest one. */
interface Reach {
  /** The longest toleration, as text. */
  text: string
  seconds: number
  others: number
}

/**
 * A set of tolerations, which finds out in constant time whether one of them tolerates all that another toleration does.
 *
 * One covers another when its key and effect are the same or stand for all, when it holds as long, and when it takes any value
 * (`Exists`) or the same one.
 */
class Cover {
  readonly #texts = new Set<string>()
  readonly #reaches = new Map<string, Reach>()

  add(toleration: Given): void {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration
    const text = textOf(toleration)
    if (this.#texts.has(text)) return
    this.#texts.add(text)
    const seconds = effect === 'NoExecute' ? (tolerationSeconds ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
    if (operator === 'Exists') this.#extend(sortOf(key, effect, undefined), text, seconds)
    else if (operator === 'Equal' || operator === '') this.#extend(sortOf(key, effect, value), text, seconds)
  }

  /** @param options.butEqual tolerations that are equal to this one do not count. */
  covers(toleration: Given, { butEqual = false }: { readonly butEqual?: boolean } = {}): boolean {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration
    const text = textOf(toleration)
    if (!butEqual && this.#texts.has(text)) return true
    const needed = tolerationSeconds ?? Number.POSITIVE_INFINITY
    const reaches = (sort: string): boolean => {
      const reach = this.#reaches.get(sort)
      if (reach === undefined) return false
      return (butEqual && reach.text === text ? reach.others : reach.seconds) >= needed
    }
    for (const within of new Set([effect, ''])) {
      // Without a key, Exists means all of them.
      if (reaches(sortOf(key, within, undefined)) || reaches(sortOf('', within, undefined))) return true
      if (operator === 'Equal' && reaches(sortOf(key, within, value))) return true
    }
    return false
  }

  #extend(sort: string, text: string, seconds: number): void {
    const reach = this.#reaches.get(sort)
    if (reach === undefined) this.#reaches.set(sort, { text, seconds, others: Number.NEGATIVE_INFINITY })
    else if (seconds > reach.seconds) this.#reaches.set(sort, { text, seconds, others: reach.seconds })
    else if (seconds > reach.others) reach.others = seconds
  }
}

/** Tolerations of one sort cover the same but for how long they hold. No value means any. */
function sortOf(key: string, effect: string, value: string | undefined): string {
  return JSON.stringify(value === undefined ? [key, effect] : [key, effect, value])
}

/** The same for equal tolerations. */
function textOf({ key = '', operator = '', value = '', effect = '', tolerationSeconds }: Given): string {
  return JSON.stringify([key, operator, value, effect, tolerationSeconds ?? null])
}
