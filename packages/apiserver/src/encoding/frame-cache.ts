import { ByteBoundedCache } from '@krmkit/meta/byte-bounded-cache'
import type { Entry } from '@krmkit/registry'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Bytes of cached events. */
const rememberedBytes = 8 * 1024 * 1024

/** Size at which a chunk of frames is complete. */
const chunkBytes = 64 * 1024

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

  #joinedFrames: readonly Uint8Array[] = []
  #chunks: readonly Uint8Array[] = []

  get(type: EventType, entry: Entry, make: () => Uint8Array): Uint8Array {
    const found = this.#frames.get(entry)
    if (found?.type === type) return found.frame
    const frame = make()
    this.#frames.set(entry, { type, frame })
    return frame
  }

  /** Joins the frames of one moment into chunks. Watchers that send the same frames, as most do, share the chunks. */
  join(frames: readonly Uint8Array[]): readonly Uint8Array[] {
    if (frames.length === 1) return frames
    if (!sameItems(frames, this.#joinedFrames)) {
      this.#chunks = chunksOf(frames)
      this.#joinedFrames = frames
    }
    return this.#chunks
  }
}

function sameItems(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
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
    chunks.push(from === index ? frame : Buffer.concat(frames.slice(from, index + 1), size))
    from = index + 1
    size = 0
  }
  return chunks
}
