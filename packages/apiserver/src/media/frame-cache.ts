import { ByteBoundedCache } from '@krmkit/base/byte-bounded-cache'
import { concatBytes } from '@krmkit/base/bytes'
import { whenDone } from '@krmkit/base/work'
import type { Entry, PendingEvent } from '@krmkit/registry'
import type { Representation } from './negotiation.ts'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Maximum size of the cached events, in bytes. */
const rememberedBytes = 8 * 1024 * 1024

/** Size at which a chunk of frames is complete. */
const chunkBytes = 64 * 1024

/**
 * Encoded events of one version in one representation, shared by its watchers: the first watcher encodes, the others send the same
 * bytes.
 */
export class FrameCache {
  readonly #frames = new ByteBoundedCache<{ readonly type: EventType; readonly frame: Uint8Array }, Entry>({
    maxBytes: rememberedBytes,
    // The frame of the largest possible object, together with the object, fits.
    maxEntryBytes: rememberedBytes / 2,
    // The cached key keeps the entry in memory, so its value counts too.
    weigh: ({ frame }, { value }) => 256 + frame.byteLength + value.byteLength,
  })

  /** Frames that are being encoded. */
  readonly #making = new WeakMap<Entry, { readonly type: EventType; readonly frame: Promise<Uint8Array> }>()
  #joinedFrames: readonly Uint8Array[] = []
  #chunks: readonly Uint8Array[] = []
  #batch: readonly PendingEvent[] = []
  #batchChunks: readonly Uint8Array[] | Promise<readonly Uint8Array[]> = []

  /** @param make returns a promise for a large object */
  get(type: EventType, entry: Entry, make: () => Uint8Array | Promise<Uint8Array>): Uint8Array | Promise<Uint8Array> {
    const found = this.#frames.get(entry)
    if (found?.type === type) return found.frame
    const making = this.#making.get(entry)
    if (making?.type === type) return making.frame
    let isMade = false
    const made = whenDone(make(), (frame) => {
      isMade = true
      this.#frames.set(entry, { type, frame })
      return frame
    })
    if (isMade) return made
    const frame = Promise.resolve(made).finally(() => this.#making.delete(entry))
    this.#making.set(entry, { type, frame })
    return frame
  }

  /**
   * The chunks of a batch. Watchers of a whole collection usually take the same batches, so all watchers but the first only compare the
   * events.
   */
  batch(
    events: readonly PendingEvent[],
    make: () => readonly Uint8Array[] | Promise<readonly Uint8Array[]>,
  ): readonly Uint8Array[] | Promise<readonly Uint8Array[]> {
    if (events.length === 0 || !sameItems(events, this.#batch)) {
      this.#batchChunks = make()
      this.#batch = events
    }
    return this.#batchChunks
  }

  /** Joins frames that are sent together into chunks. Watchers that send the same frames, as most do, share the chunks. */
  join(frames: readonly Uint8Array[]): readonly Uint8Array[] {
    if (frames.length === 1) return frames
    if (!sameItems(frames, this.#joinedFrames)) {
      this.#chunks = chunksOf(frames)
      this.#joinedFrames = frames
    }
    return this.#chunks
  }
}

/** The frame caches of one version, one for each representation that is watched. */
export class FrameCaches {
  readonly #caches = new Map<string, FrameCache>()

  of({ encoding, transform }: Representation): FrameCache {
    const key = transform === undefined ? encoding : `${encoding} ${transform.as} ${transform.version}`
    let cache = this.#caches.get(key)
    if (cache === undefined) {
      cache = new FrameCache()
      this.#caches.set(key, cache)
    }
    return cache
  }
}

function sameItems(a: readonly object[], b: readonly object[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function chunksOf(frames: readonly Uint8Array[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  let from = 0
  let size = 0
  for (const [index, frame] of frames.entries()) {
    size += frame.byteLength
    if (size < chunkBytes && index < frames.length - 1) continue
    chunks.push(from === index ? frame : concatBytes(frames.slice(from, index + 1), size))
    from = index + 1
    size = 0
  }
  return chunks
}
