import type { JsonObject, JsonValue } from '@krmkit/meta'

/**
 * Queues parts of a merge, so that a large merge runs in slices: the target map is returned at once, and filled when `run`
 * reaches its part.
 */
export class DeferredMerges {
  #parts: Generator<void, void>[] = []

  add(part: Generator<void, void>): void {
    this.#parts.push(part)
  }

  /** Runs all parts in order, including those added meanwhile. */
  *run(): Generator<void, void> {
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

/** Copies the members of a map into an empty one, in V8's dictionary mode because there may be many. */
export function* copyInto(out: JsonObject, from: JsonObject): Generator<void, void> {
  const prototype = Object.getPrototypeOf(out)
  Object.setPrototypeOf(out, null)
  let members = 0
  for (const key in from) {
    out[key] = from[key] as JsonValue
    if (++members % stepSize === 0) yield
  }
  Object.setPrototypeOf(out, prototype)
}

/** Members or items merged between two yields. */
export const stepSize = 64
