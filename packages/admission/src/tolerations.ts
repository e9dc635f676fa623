import type { DeepReadonly } from '@krmkit/meta'
import type { Toleration } from './pod.ts'

/** Set algebra of tolerations. */

type Given = DeepReadonly<Toleration>

/** The union of both lists without tolerations that another one covers; of equal ones the first is kept. */
export function mergeTolerations(first: readonly Given[], second: readonly Given[]): Toleration[] {
  const all = [...first, ...second]
  const later = new TolerationSet()
  const coveredLater = new Set<number>()
  for (let i = all.length - 1; i >= 0; i--) {
    const each = all[i] as Given
    if (later.covers(each, { ignoreEqual: true })) coveredLater.add(i)
    later.add(each)
  }
  const merged: Toleration[] = []
  const kept = new TolerationSet()
  for (const [i, each] of all.entries()) {
    if (kept.covers(each) || coveredLater.has(i)) continue
    kept.add(each)
    merged.push({ ...each })
  }
  return merged
}

/** Whether the allow list covers every toleration. An empty list allows all. */
export function areTolerationsAllowed(tolerations: readonly Given[], allowed: readonly Given[]): boolean {
  if (allowed.length === 0) return true
  const set = new TolerationSet()
  for (const each of allowed) set.add(each)
  return tolerations.every((each) => set.covers(each))
}

/** The longest duration of the tolerations with one selector, and the longest of those that differ from it. */
interface Duration {
  /** Identity of the longest toleration. */
  longest: string
  seconds: number
  othersSeconds: number
}

/**
 * A set of tolerations that decides in constant time whether one of them covers another toleration.
 *
 * One covers another when its key and effect are equal or match all, when it lasts as long, and when it accepts any value (`Exists`)
 * or an equal one.
 */
class TolerationSet {
  readonly #identities = new Set<string>()
  readonly #durations = new Map<string, Duration>()

  add(toleration: Given): void {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration
    const identity = identityOf(toleration)
    if (this.#identities.has(identity)) return
    this.#identities.add(identity)
    const seconds = effect === 'NoExecute' ? (tolerationSeconds ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
    if (operator === 'Exists') this.#extend(selectorOf(key, effect, undefined), identity, seconds)
    else if (operator === 'Equal' || operator === '') this.#extend(selectorOf(key, effect, value), identity, seconds)
  }

  /** @param options.ignoreEqual ignores tolerations that are equal to this one. */
  covers(toleration: Given, { ignoreEqual = false }: { readonly ignoreEqual?: boolean } = {}): boolean {
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration
    const identity = identityOf(toleration)
    if (!ignoreEqual && this.#identities.has(identity)) return true
    const needed = tolerationSeconds ?? Number.POSITIVE_INFINITY
    const lastsLongEnough = (selector: string): boolean => {
      const duration = this.#durations.get(selector)
      if (duration === undefined) return false
      return (ignoreEqual && duration.longest === identity ? duration.othersSeconds : duration.seconds) >= needed
    }
    for (const within of new Set([effect, ''])) {
      // Exists without a key matches all keys.
      if (lastsLongEnough(selectorOf(key, within, undefined)) || lastsLongEnough(selectorOf('', within, undefined))) return true
      if (operator === 'Equal' && lastsLongEnough(selectorOf(key, within, value))) return true
    }
    return false
  }

  #extend(selector: string, longest: string, seconds: number): void {
    const duration = this.#durations.get(selector)
    if (duration === undefined) {
      this.#durations.set(selector, { longest, seconds, othersSeconds: Number.NEGATIVE_INFINITY })
    } else if (seconds > duration.seconds) {
      this.#durations.set(selector, { longest, seconds, othersSeconds: duration.seconds })
    } else if (seconds > duration.othersSeconds) duration.othersSeconds = seconds
  }
}

/** Identifies what a toleration matches, whatever its duration. An undefined value matches any. */
function selectorOf(key: string, effect: string, value: string | undefined): string {
  return JSON.stringify(value === undefined ? [key, effect] : [key, effect, value])
}

/** Equal for equal tolerations. */
function identityOf({ key = '', operator = '', value = '', effect = '', tolerationSeconds }: Given): string {
  return JSON.stringify([key, operator, value, effect, tolerationSeconds ?? null])
}
