import type { Entry } from '@krmkit/storage'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** How many encoded events are remembered for other watchers of the same form. */
const rememberedFrames = 512

/**
 * Encoded events, shared by all watchers of one view: whoever comes first encodes, the rest send the same bytes.
 */
export class FrameCache {
  readonly #frames = new Map<Entry, { readonly type: EventType; readonly frame: Uint8Array }>()

  get(type: EventType, entry: Entry, make: () => Uint8Array): Uint8Array {
    const found = this.#frames.get(entry)
    if (found?.type === type) return found.frame
    const frame = make()
    if (this.#frames.size >= rememberedFrames) {
      const oldest = this.#frames.keys().next()
      if (!oldest.done) this.#frames.delete(oldest.value)
    }
    this.#frames.set(entry, { type, frame })
    return frame
  }
}
