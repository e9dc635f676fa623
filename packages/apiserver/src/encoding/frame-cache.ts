import { ByteBoundedCache } from '@krmkit/meta/byte-bounded-cache'
import type { Entry } from '@krmkit/registry'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Bytes of cached events. */
const rememberedBytes = 8 * 1024 * 1024

/**
 * Encoded events of one version, shared by its watchers: the first watcher encodes, the others send the same bytes.
 */
export class FrameCache {
  readonly #frames = new ByteBoundedCache<{ readonly type: EventType; readonly frame: Uint8Array }, Entry>({
    maxBytes: rememberedBytes,
    // Holds a frame of the largest object together with the object.
    maxEntryBytes: rememberedBytes / 2,
    // The key keeps a deleted entry alive.
    weigh: ({ frame }, { value }) => 256 + frame.byteLength + value.byteLength,
  })

  get(type: EventType, entry: Entry, make: () => Uint8Array): Uint8Array {
    const found = this.#frames.get(entry)
    if (found?.type === type) return found.frame
    const frame = make()
    this.#frames.set(entry, { type, frame })
    return frame
  }
}
