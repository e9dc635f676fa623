import type { JsonObject, JsonValue } from '@krmkit/meta'

/**
 * Parts of a merge that are put off, so that a large one is done in slices: the map that a part fills is handed out at once, and its
 * members are merged when `run` comes to it.
 */
export class Later {
  #parts: Generator<void, void>[] = []

  add(part: Generator<void, void>): void {
    this.#parts.push(part)
  }

  /** Does everything in the order in which it was added, and what that adds. */
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

/** Copies the members of a map into an empty one, which then holds many more of them than engines give a shape to. */
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

/** How many members or items are merged between two interruptions. */
export const stepSize = 64
