import type { JsonObject, JsonValue } from '@krmkit/meta'
import { memberNames, type Work } from '@krmkit/meta/work'

/**
 * Queues parts of a merge, so that a large merge runs in slices: the target map is returned at once, and filled when `run`
 * reaches its part.
 */
export class DeferredMerges {
  #parts: Work<unknown>[] = []

  add(part: Work<unknown>): void {
    this.#parts.push(part)
  }

  /** Runs all parts in order, including those added meanwhile. */
  *run(): Work {
    while (this.#parts.length > 0) {
      const parts = this.#parts
      this.#parts = []
      for (const part of parts) {
        yield* part
        yield
      }
    }
  }
}

/**
 * Copies the members of a map into an empty one, in V8's dictionary mode because there may be many.
 *
 * @returns the keys
 */
export function* copyInto(out: JsonObject, from: JsonObject): Work<readonly string[]> {
  const prototype = Object.getPrototypeOf(out)
  Object.setPrototypeOf(out, null)
  const keys = yield* keysOf(from)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    out[key] = from[key] as JsonValue
    if (i % stepSize === 0) yield
  }
  Object.setPrototypeOf(out, prototype)
  return keys
}

/** The keys of a map. Listing those of a large map takes a slice. */
export function* keysOf(map: JsonObject): Work<readonly string[]> {
  const keys = memberNames(map)
  if (keys.length > stepSize) yield true
  return keys
}

/** Members or items merged between two yields. */
export const stepSize = 64
