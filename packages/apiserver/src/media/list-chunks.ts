import { concatBytes, uninitializedBytes } from '@krmkit/base/bytes'
import type { Turns, Work } from '@krmkit/base/work'
import type { ApiBody, BodyPiece } from '@krmkit/protocol'
import { type Entry, isLargeEntry } from '@krmkit/registry'
import { memberBytes, type VersionCodec } from './codec.ts'

/** Average and maximum number of entries of a chunk, and the bytes after which a chunk ends. */
const averageChunk = 64
const longestChunk = 256
const chunkBytes = 128 * 1024

/** Maximum size of the items of all cached chunks, in bytes. */
const cachedBytes = 64 * 1024 * 1024

/**
 * Caches the items of lists as chunks of neighbours. Chunk boundaries depend on the entries and not on the list, so two lists share the
 * chunks in which nothing has changed, and adapters need not compress these chunks again.
 *
 * A chunk is dropped with its first entry, because the chunk refers to its other entries, whose values would otherwise stay in memory after
 * they were superseded.
 */
export class ListChunkCache {
  readonly #chunks = new WeakMap<Entry, Cached>()
  /** All chunks, oldest first, with their lengths. A dropped chunk counts until it becomes the oldest. */
  readonly #byAge = new Map<WeakRef<Chunk>, number>()
  #bytes = 0;

  /**
   * Builds the body of a list step by step: `head`, the items separated by commas, `end`. Items omit the opening of their documents.
   */
  *steps(
    codec: VersionCodec,
    entries: readonly Entry[],
    { head, end, turns }: { head: Uint8Array; end: Uint8Array; turns: Turns },
  ): Work<ApiBody> {
    const first = entries[0]
    if (first === undefined) return { kind: 'bytes', bytes: concatBytes([head, end]) }
    yield codec.ready(first, 'bytes', turns)
    const opening = concatBytes([head, openBrace, memberBytes(codec, first)])
    const parts: (Uint8Array | BodyPiece)[] = [opening]
    let length = opening.byteLength + end.byteLength
    for (let from = 1; from < entries.length; ) {
      const chunk = yield* this.#chunkAt(codec, entries, { from, turns })
      parts.push(chunk)
      length += chunk.byteLength
      from += chunk.entries.length
      yield false
    }
    parts.push(end)
    return { kind: 'list', parts, length }
  }

  /** The chunk that begins at an entry of a list, from the cache if its entries are unchanged. */
  *#chunkAt(codec: VersionCodec, entries: readonly Entry[], { from, turns }: ChunkStart): Work<Chunk> {
    const first = entries[from] as Entry
    const known = this.#chunks.get(first)?.chunk
    if (known?.codec === codec && known.isAt(entries, from)) return known
    const chunk = yield* cutChunk(codec, entries, { from, turns })
    // Another list may have cached a chunk for this entry in the meantime.
    this.#forget(this.#chunks.get(first)?.ref)
    const ref = new WeakRef(chunk)
    this.#chunks.set(first, { chunk, ref })
    this.#byAge.set(ref, chunk.byteLength)
    this.#bytes += chunk.byteLength
    for (const oldest of this.#byAge.keys()) {
      if (this.#bytes <= cachedBytes) break
      this.#forget(oldest)
    }
    return chunk
  }

  #forget(ref: WeakRef<Chunk> | undefined): void {
    if (ref === undefined) return
    const chunk = ref.deref()
    if (chunk !== undefined) this.#chunks.delete(chunk.entries[0] as Entry)
    this.#bytes -= this.#byAge.get(ref) ?? 0
    this.#byAge.delete(ref)
  }
}

/** The index at which a chunk begins, and the turns that pace work on large entries. */
interface ChunkStart {
  readonly from: number
  readonly turns: Turns
}

interface Cached {
  readonly chunk: Chunk
  readonly ref: WeakRef<Chunk>
}

/** Items, each preceded by a comma. */
class Chunk implements BodyPiece {
  readonly codec: VersionCodec
  readonly entries: readonly Entry[]
  readonly byteLength: number
  /** Whether the chunk ended with its list; a longer list continues it. */
  readonly #cutShort: boolean

  constructor(codec: VersionCodec, entries: readonly Entry[], size: { byteLength: number; cutShort: boolean }) {
    this.codec = codec
    this.entries = entries
    this.byteLength = size.byteLength
    this.#cutShort = size.cutShort
  }

  isAt(list: readonly Entry[], from: number): boolean {
    const { entries } = this
    if (from + entries.length > list.length || (this.#cutShort && from + entries.length < list.length)) return false
    for (let i = 0; i < entries.length; i++) if (entries[i] !== list[from + i]) return false
    return true
  }

  bytes(): Uint8Array {
    const bytes = uninitializedBytes(this.byteLength)
    let at = 0
    for (const entry of this.entries) {
      const members = memberBytes(this.codec, entry)
      bytes[at] = commaCode
      bytes[at + 1] = openCode
      bytes.set(members, at + 2)
      at += 2 + members.byteLength
    }
    return bytes
  }
}

function* cutChunk(codec: VersionCodec, list: readonly Entry[], { from, turns }: ChunkStart): Work<Chunk> {
  let to = from
  let byteLength = 0
  let ended = false
  while (to < list.length && !ended) {
    const entry = list[to] as Entry
    const preparing = codec.ready(entry, 'bytes', turns)
    if (preparing !== undefined) yield preparing
    // The item has a comma and an opening brace instead of the head, and lacks the newline.
    byteLength += codec.bytes(entry).byteLength - codec.headLength + 1
    to++
    ended = endsRun(entry) || to - from >= longestChunk || byteLength >= chunkBytes
    yield isLargeEntry(entry)
  }
  return new Chunk(codec, list.slice(from, to), { byteLength, cutShort: !ended })
}

/** Whether an entry ends its chunk: one in {@link averageChunk}, chosen by a multiplicative hash of its key, stable across updates. */
function endsRun({ created }: Entry): boolean {
  return Math.imul(created, 0x9e3779b1) >>> 0 < 2 ** 32 / averageChunk
}

const commaCode = 0x2c
const openCode = 0x7b
const openBrace = Uint8Array.of(openCode)
