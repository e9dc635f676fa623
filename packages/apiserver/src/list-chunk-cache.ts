import { isLargeEntry } from '@krmkit/registry'
import type { Entry } from '@krmkit/storage'
import type { ApiBody, BodyPiece } from './interfaces.ts'
import { memberBytes, type VersionCodec } from './version-codec.ts'

/** Entries of one run on average, at most, and the bytes beyond which a run ends. */
const usualRun = 64
const longestRun = 256
const runBytes = 128 * 1024

/** How many bytes the runs that are remembered stand for. */
const rememberedBytes = 64 * 1024 * 1024

/**
 * The items of a list as runs of neighbours. Where a run ends depends on the entries in it and not on the list: two lists
 * share the runs in which nothing has changed between them, and adapters need not compress those again.
 */
export class ListChunkCache {
  readonly #runs = new Map<Entry, Run>()
  #bytes = 0;

  /**
   * Makes the body of a list, yielding where it may be interrupted: `head`, the items with commas between, `end`. Items are the documents of a view without what
   * stands before their own members.
   */
  *steps(
    view: VersionCodec,
    entries: readonly Entry[],
    { head, end }: { head: Uint8Array; end: Uint8Array },
  ): Generator<boolean, ApiBody> {
    const first = entries[0]
    if (first === undefined) return { kind: 'bytes', bytes: Buffer.concat([head, end]) }
    const opening = Buffer.concat([head, openBrace, memberBytes(view, first)])
    const parts: (Uint8Array | BodyPiece)[] = [opening]
    let length = opening.byteLength + end.byteLength
    for (let from = 1; from < entries.length; ) {
      const run = yield* this.#runAt(view, entries, from)
      parts.push(run)
      length += run.byteLength
      from += run.entries.length
      yield false
    }
    parts.push(end)
    return { kind: 'list', parts, length }
  }

  /** The run that begins at an entry of a list: a remembered one if it is still the same. */
  *#runAt(view: VersionCodec, entries: readonly Entry[], from: number): Generator<boolean, Run> {
    const first = entries[from] as Entry
    const known = this.#runs.get(first)
    if (known?.view === view && known.isAt(entries, from)) return known
    const run = yield* cutRun(view, entries, from)
    // Another list may have cut one meanwhile.
    const former = this.#runs.get(first)
    if (former !== undefined) this.#forget(first, former)
    this.#runs.set(first, run)
    this.#bytes += run.byteLength
    for (const [entry, oldest] of this.#runs) {
      if (this.#bytes <= rememberedBytes) break
      this.#forget(entry, oldest)
    }
    return run
  }

  #forget(first: Entry, run: Run): void {
    this.#runs.delete(first)
    this.#bytes -= run.byteLength
  }
}

/** Each item with a comma before it. */
class Run implements BodyPiece {
  readonly view: VersionCodec
  readonly entries: readonly Entry[]
  readonly byteLength: number
  /** Whether the run ended where its list did, and goes on in a longer one. */
  readonly #cutShort: boolean

  constructor(view: VersionCodec, entries: readonly Entry[], size: { byteLength: number; cutShort: boolean }) {
    this.view = view
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
    const bytes = Buffer.allocUnsafeSlow(this.byteLength)
    let at = 0
    for (const entry of this.entries) {
      const members = memberBytes(this.view, entry)
      bytes[at] = commaCode
      bytes[at + 1] = openCode
      bytes.set(members, at + 2)
      at += 2 + members.byteLength
    }
    return bytes
  }
}

function* cutRun(view: VersionCodec, list: readonly Entry[], from: number): Generator<boolean, Run> {
  let to = from
  let byteLength = 0
  let ended = false
  while (to < list.length && !ended) {
    const entry = list[to] as Entry
    // Two more for the comma and the brace, one less for the newline.
    byteLength += view.bytes(entry).byteLength - view.headLength + 1
    to++
    ended = endsRun(entry) || to - from >= longestRun || byteLength >= runBytes
    yield isLargeEntry(entry)
  }
  return new Run(view, list.slice(from, to), { byteLength, cutShort: !ended })
}

/** One entry of {@link usualRun} ends its run; which, is scattered by a multiplication (Knuth's) and outlives updates. */
function endsRun({ created }: Entry): boolean {
  return Math.imul(created, 0x9e3779b1) >>> 0 < 2 ** 32 / usualRun
}

const commaCode = 0x2c
const openCode = 0x7b
const openBrace = Uint8Array.of(openCode)
