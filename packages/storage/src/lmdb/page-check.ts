/**
 * Checks the pages of a data file before LMDB maps it. LMDB trusts them: a damaged page can end the process, hide records, or let a later
 * write overwrite live data. Records have checksums; this check covers the pages that lead to them.
 *
 * An LMDB file has two meta pages, of which the newer one applies; each refers to a tree of free pages and a tree of tables. Every other
 * page belongs to at most one tree or is listed as free. A page that is neither only wastes space.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { StorageError } from '../storage-error.ts'
import { PageReader } from './page-reader.ts'

/** Offsets in bytes: of a page, of a meta page, of the description of a tree, of a node. Bounds and nodes count from the end of the header. */
const page = { txn: 8, flags: 18, lower: 20, upper: 22, pages: 20, header: 24 } as const
const meta = { mapSize: 40, free: 48, main: 96, lastPage: 144, txn: 152, bytes: 160 } as const
const tree = { flags: 4, depth: 6, entries: 32, root: 40, bytes: 48 } as const
const node = { flags: 4, keySize: 6, header: 8 } as const
const pageFlags = { branch: 1, leaf: 2, overflow: 4 } as const
const nodeFlags = { big: 1, tree: 2 } as const
/** Size of the reference to a large value: its page number, transaction and number of pages. */
const largeBytes = 24
const noPage = 0xffff_ffff_ffff_ffffn
/** Flags about how a state was written, which may differ between transactions. */
const syncFlags = 0x1000
const maxDepth = 32
const maxMapSize = 2 ** 47
const freePages = 'the free pages'
/** Maximum number of attempts while another process writes. */
const attempts = 5

/**
 * Checks the pages of a data file. Another process may write the file during the check: a problem counts only when the meta pages have not
 * changed meanwhile, and after several changed attempts the check ends without a result.
 *
 * @param pageSize in bytes
 * @throws StorageError `Unavailable` with reason `corrupt`
 */
export function checkPages(path: string, pageSize: number): void {
  const file = openSync(path, 'r')
  try {
    for (let attempt = 1; ; attempt++) {
      const metas = readMetas(file, pageSize)
      try {
        new PageChecker(file, pageSize, metas).check()
        return
      } catch (error) {
        if (!(error instanceof PageProblem)) throw error
        const isSame = Buffer.compare(metas, readMetas(file, pageSize)) === 0
        const problem = `${path} is damaged: ${error.message}`
        if (isSame) throw new StorageError({ code: 'Unavailable', reason: 'corrupt', problem, cause: error })
        if (attempt === attempts) return
      }
    }
  } finally {
    closeSync(file)
  }
}

class PageProblem extends Error {
  override readonly name = 'PageProblem'
}

interface TreeDescription {
  readonly flags: number
  readonly depth: number
  readonly entries: number
  readonly root: bigint
}

/** Called for each entry of a tree in key order; a large value is passed as its reference. The buffer is valid only during the call. */
type EntryVisitor = (flags: number, data: Buffer) => void

/** A key within a page. */
interface KeyRange {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

/** A visit of one tree. */
interface Walk {
  readonly what: string
  readonly compare: (one: KeyRange, other: KeyRange, what: string) => number
  readonly visit: EntryVisitor | undefined
  /** Number of entries so far, and the key of the last one. */
  entries: number
  last: KeyRange | undefined
  /** The next entry must not be below this key of a branch. */
  floor: (KeyRange & { readonly page: number }) | undefined
}

function readMetas(file: number, pageSize: number): Buffer {
  const both = Buffer.alloc(2 * meta.bytes)
  for (const at of [0, 1]) readSync(file, both, at * meta.bytes, meta.bytes, at * pageSize)
  return both
}

class PageChecker {
  readonly #file: number
  readonly #pages: PageReader
  readonly #pageSize: number
  readonly #metas: readonly [Buffer, Buffer]
  /** Pages that belong to a tree or are free: one bit for each. */
  #seen = new Uint8Array(0)
  /** The visited page of each level, from the leaves up, and the head of a large value. */
  readonly #levels: Buffer[] = []
  readonly #head = Buffer.alloc(page.header)
  #lastPage = 0
  #txn = 0

  constructor(file: number, pageSize: number, metas: Buffer) {
    this.#file = file
    this.#pages = new PageReader(file, pageSize)
    this.#pageSize = pageSize
    this.#metas = [metas.subarray(0, meta.bytes), metas.subarray(meta.bytes)]
  }

  check(): void {
    const newest = this.#newestMeta()
    this.#txn = readUint64(newest, meta.txn)
    this.#lastPage = readUint64(newest, meta.lastPage)
    this.#seen = new Uint8Array(Math.ceil((this.#lastPage + 1) / 8))
    const main = describe(newest, meta.main)
    const tables: TreeDescription[] = []
    this.#walk(main, 'the tables', (flags, data) => {
      if (flags !== nodeFlags.tree || data.length !== tree.bytes) throw new PageProblem('a table has no description')
      tables.push(describe(data, 0))
    })
    if (main.root !== noPage && readUint64(this.#read(Number(main.root), this.#head), page.txn) !== this.#txn) {
      throw new PageProblem('the newest state is not that of the last write')
    }
    for (const table of tables) {
      if (table.flags !== 0) throw new PageProblem('a table is of another kind')
      this.#walk(table, 'a table')
    }
    this.#walk(describe(newest, meta.free), freePages, (_, data) => this.#readFreePages(data))
  }

  /** The newest meta page. The two meta pages are written alternately, so their transactions are consecutive. */
  #newestMeta(): Buffer {
    const [first, second] = this.#metas
    const txns = [first.readBigUInt64LE(meta.txn), second.readBigUInt64LE(meta.txn)] as const
    const isNew = txns[0] === 0n && txns[1] <= 1n
    const follow = txns[0] - txns[1] === 1n || txns[1] - txns[0] === 1n
    if (!isNew && (!follow || txns[0] % 2n !== 0n)) throw new PageProblem('its two states do not follow each other')
    if (this.#flagsOf(first) !== this.#flagsOf(second)) throw new PageProblem('its two states are of different kinds')
    const newest = txns[1] > txns[0] ? second : first
    const mapSize = newest.readBigUInt64LE(meta.mapSize)
    if (mapSize > maxMapSize) throw new PageProblem('its size is impossible')
    return newest
  }

  #flagsOf(state: Buffer): string {
    return `${state.readUInt16LE(meta.free + tree.flags) & ~syncFlags} ${state.readUInt16LE(meta.main + tree.flags)}`
  }

  /** Visits all pages of a tree. */
  #walk({ root, depth, entries }: TreeDescription, what: string, visit?: EntryVisitor): void {
    const compare = what === freePages ? compareTransactions : compareBytes
    const walk: Walk = { what, compare, visit, entries: 0, last: undefined, floor: undefined }
    if (root !== noPage) {
      if (depth < 1 || depth > maxDepth) throw new PageProblem(`${what} cannot be ${depth} levels deep`)
      this.#visit(Number(root), depth, walk)
    }
    if (walk.entries !== entries) throw new PageProblem(`${what} has ${walk.entries} of ${entries} entries`)
  }

  #visit(number: number, depth: number, walk: Walk): void {
    const { what } = walk
    const bytes = this.#take(number, what, this.#level(depth))
    const flags = bytes.readUInt16LE(page.flags)
    if (flags !== (depth === 1 ? pageFlags.leaf : pageFlags.branch))
      throw new PageProblem(`page ${number} of ${what} is of another kind`)
    const lower = bytes.readUInt16LE(page.lower) + page.header
    const upper = bytes.readUInt16LE(page.upper) + page.header
    if (lower > upper || upper > this.#pageSize || lower % 2 !== 0) {
      throw new PageProblem(`page ${number} of ${what} has impossible bounds`)
    }
    const count = (lower - page.header) / 2
    if (count === 0) throw new PageProblem(`page ${number} of ${what} is empty`)
    for (let n = 0; n < count; n++) {
      const at = bytes.readUInt16LE(page.header + 2 * n) + page.header
      if (at < upper || at + node.header > this.#pageSize)
        throw new PageProblem(`page ${number} of ${what} has an impossible entry`)
      const dataAt = at + node.header + bytes.readUInt16LE(at + node.keySize)
      if (dataAt > this.#pageSize) throw new PageProblem(`page ${number} of ${what} has an impossible key`)
      const key = { bytes, start: at + node.header, end: dataAt, page: number }
      // The first key of a branch is ignored: its child holds every key before the second.
      const isBelow = walk.last !== undefined && (depth === 1 || n > 0) && walk.compare(walk.last, key, what) >= 0
      if (isBelow) throw new PageProblem(`page ${number} of ${what} is out of order`)
      if (depth === 1) this.#visitEntry(key, at, walk)
      else {
        if (n > 0) walk.floor = key
        this.#visit(bytes.readUInt32LE(at) + bytes.readUInt16LE(at + node.flags) * 2 ** 32, depth - 1, walk)
      }
    }
    // Copy the key, because the buffer is reused for the next page.
    if (depth === 1) walk.last = copyKey(walk.last)
  }

  /** An entry of a leaf, whose node begins at `at`. */
  #visitEntry(key: KeyRange, at: number, walk: Walk): void {
    const { what, floor } = walk
    if (floor !== undefined && walk.compare(key, floor, what) < 0) {
      throw new PageProblem(`page ${floor.page} of ${what} is out of order`)
    }
    walk.floor = undefined
    walk.last = key
    walk.entries++
    const { bytes, end: dataAt } = key
    const size = bytes.readUInt32LE(at)
    const flags = bytes.readUInt16LE(at + node.flags)
    const isLarge = flags === nodeFlags.big
    const end = dataAt + (isLarge ? largeBytes : size)
    if ((flags & ~(nodeFlags.big | nodeFlags.tree)) !== 0 || end > this.#pageSize) {
      throw new PageProblem(`${what} has an impossible value`)
    }
    if (isLarge) this.#visitLarge(bytes.subarray(dataAt, end), size, walk)
    else walk.visit?.(flags, bytes.subarray(dataAt, end))
  }

  /** Checks the pages of a large value. Reads the value only if it is a list of free pages, because records have checksums. */
  #visitLarge(data: Buffer, size: number, { what, visit }: Walk): void {
    const first = readUint64(data, 0)
    const count = Math.floor((page.header - 1 + size) / this.#pageSize) + 1
    const head = this.#take(first, what, this.#head)
    const isSame = readUint64(head, page.txn) === readUint64(data, 8)
    if (head.readUInt16LE(page.flags) !== pageFlags.overflow || !isSame) throw new PageProblem(`${what} has a lost value`)
    if (head.readUInt32LE(page.pages) !== count || readUint64(data, 16) !== count) {
      throw new PageProblem(`${what} has a value of another size`)
    }
    for (let n = 1; n < count; n++) this.#claim(first + n, what)
    if (visit === undefined) return
    const value = Buffer.alloc(size)
    readSync(this.#file, value, 0, size, first * this.#pageSize + page.header)
    visit(nodeFlags.big, value)
  }

  /**
   * Reads a list of free pages: its length, then page numbers. A negative number is the length of a block that begins at the next number.
   */
  #readFreePages(data: Buffer): void {
    if (data.length < 8 || data.length % 8 !== 0) throw new PageProblem('a list of free pages is damaged')
    const count = Number(data.readBigInt64LE(0))
    if (count < 0 || count + 1 > data.length / 8) throw new PageProblem('a list of free pages is damaged')
    for (let n = 1; n <= count; n++) {
      const entry = Number(data.readBigInt64LE(8 * n))
      if (entry === 0) continue
      if (entry > 0) this.#claim(entry, freePages)
      else {
        if (-entry > this.#lastPage || n === count) throw new PageProblem('a list of free pages is damaged')
        const first = Number(data.readBigInt64LE(8 * ++n))
        for (let at = 0; at < -entry; at++) this.#claim(first + at, freePages)
      }
    }
  }

  /** Reads the beginning of a page, and claims the page for a tree: no other tree may contain it. */
  #take(number: number, what: string, into: Buffer): Buffer {
    this.#claim(number, what)
    const bytes = this.#read(number, into)
    if (readUint64(bytes, 0) !== number || readUint64(bytes, page.txn) > this.#txn) {
      throw new PageProblem(`page ${number} of ${what} is another page`)
    }
    return bytes
  }

  #claim(number: number, what: string): void {
    if (!(number >= 2 && number <= this.#lastPage)) throw new PageProblem(`${what} has the impossible page ${number}`)
    const bit = 1 << (number & 7)
    const at = Math.floor(number / 8)
    const bits = this.#seen[at] as number
    if ((bits & bit) !== 0) throw new PageProblem(`page ${number} of ${what} is used twice`)
    this.#seen[at] = bits | bit
  }

  #read(number: number, into: Buffer): Buffer {
    if (!this.#pages.read(number, into)) throw new PageProblem(`page ${number} is behind the end of the file`)
    return into
  }

  #level(depth: number): Buffer {
    this.#levels[depth] ??= Buffer.alloc(this.#pageSize)
    return this.#levels[depth]
  }
}

function compareBytes(one: KeyRange, other: KeyRange): number {
  const length = Math.min(one.end - one.start, other.end - other.start)
  for (let at = 0; at < length; at++) {
    const difference = (one.bytes[one.start + at] as number) - (other.bytes[other.start + at] as number)
    if (difference !== 0) return difference
  }
  return one.end - one.start - (other.end - other.start)
}

/** Compares keys in the tree of free pages, which are transaction numbers. */
function compareTransactions(one: KeyRange, other: KeyRange, what: string): number {
  if (one.end - one.start !== 8 || other.end - other.start !== 8) throw new PageProblem(`${what} has a key of another size`)
  return Number(one.bytes.readBigInt64LE(one.start) - other.bytes.readBigInt64LE(other.start))
}

function copyKey(key: KeyRange | undefined): KeyRange | undefined {
  if (key === undefined) return undefined
  const bytes = Buffer.from(key.bytes.subarray(key.start, key.end))
  return { bytes, start: 0, end: bytes.length }
}

/** Exact up to 2^53. Larger numbers occur only in damaged pages, and stay larger after rounding. */
function readUint64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32
}

function describe(bytes: Buffer, at: number): TreeDescription {
  return {
    flags: bytes.readUInt16LE(at + tree.flags),
    depth: bytes.readUInt16LE(at + tree.depth),
    entries: Number(bytes.readBigUInt64LE(at + tree.entries)),
    root: bytes.readBigUInt64LE(at + tree.root),
  }
}
