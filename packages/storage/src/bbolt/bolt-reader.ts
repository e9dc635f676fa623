/** Reads the buckets of a bbolt file. The file is untrusted: every number is checked against the bounds of its page or file. */
import type { BoltEntry } from './bolt-writer.ts'
import {
  bucketFlag,
  bucketHeaderBytes,
  elementBytes,
  headBytes,
  type Meta,
  pageHeaderBytes,
  pageKinds,
  readMeta,
} from './page-format.ts'

/** A file with random access. */
export interface RandomAccessFile {
  /** In bytes. */
  readonly size: number
  /** Reads `length` bytes; fewer only at the end of the file. */
  read(at: number, length: number): Promise<Buffer>
}

/** The file is damaged or not a bbolt file. */
export class BoltError extends Error {
  override readonly name = 'BoltError'
}

const minPageSize = 512
const maxPageSize = 65_536
/** A branch has at least two children, so a deeper tree would have more pages than any file. */
const maxDepth = 64

export class BoltReader {
  readonly #file: RandomAccessFile
  readonly #meta: Meta

  private constructor(file: RandomAccessFile, meta: Meta) {
    this.#file = file
    this.#meta = meta
  }

  /** @throws BoltError */
  static async open(file: RandomAccessFile): Promise<BoltReader> {
    const first = readMeta(await file.read(0, headBytes))
    // Either meta page states the page size, and the second meta page begins after one page of that size.
    let second = first === undefined ? undefined : readMeta(await file.read(first.pageSize, headBytes))
    for (let size = minPageSize; first === undefined && second === undefined && size <= maxPageSize; size *= 2) {
      const found = readMeta(await file.read(size, headBytes))
      if (found?.pageSize === size) second = found
    }
    const found = [first, second].filter((meta) => meta !== undefined)
    const newest = found.reduce((one, other) => (one.transaction >= other.transaction ? one : other), found[0] ?? noMeta)
    if (newest.pages === 0) throw new BoltError('the file has no valid meta page')
    if (newest.pageSize < minPageSize || newest.pageSize > maxPageSize) throw new BoltError('the size of its pages is impossible')
    return new BoltReader(file, newest)
  }

  /** The entries of a bucket, in the order of their keys; undefined when there is no such bucket. @throws BoltError */
  async bucket(name: string): Promise<AsyncGenerator<BoltEntry> | undefined> {
    // A page that is reached twice means damage, and could cause a loop.
    const seen = new Set<number>()
    const wanted = Buffer.from(name)
    for await (const { key, value, flags } of this.#leaves(this.#meta.root, { seen, depth: 1 })) {
      if ((flags & bucketFlag) === 0 || !wanted.equals(key)) continue
      if (value.length < bucketHeaderBytes) throw new BoltError(`the bucket ${name} has no description`)
      const root = Number(value.readBigUInt64LE(0))
      return root === 0 ? ordered(inlineElements(value)) : ordered(this.#leaves(root, { seen, depth: 1 }))
    }
    return undefined
  }

  async *#leaves(number: number, { seen, depth }: { seen: Set<number>; depth: number }): AsyncGenerator<Element> {
    if (seen.has(number)) throw new BoltError(`page ${number} is used twice`)
    seen.add(number)
    const page = await this.#page(number)
    if (depth > maxDepth) throw new BoltError('a tree is too deep')
    if (page.readUInt16LE(kindAt) === pageKinds.leaf) {
      yield* leafElements(page)
      return
    }
    if (page.readUInt16LE(kindAt) !== pageKinds.branch) throw new BoltError(`page ${number} is of another kind`)
    for (let index = 0; index < page.readUInt16LE(countAt); index++) {
      const at = elementAt(page, index)
      yield* this.#leaves(Number(page.readBigUInt64LE(at + 8)), { seen, depth: depth + 1 })
    }
  }

  async #page(number: number): Promise<Buffer> {
    const { pageSize, pages } = this.#meta
    if (number < 2 || number >= pages) throw new BoltError(`page ${number} is impossible in a tree`)
    const first = await this.#file.read(number * pageSize, pageSize)
    if (first.length < pageSize) throw new BoltError(`page ${number} is behind the end of the file`)
    if (Number(first.readBigUInt64LE(0)) !== number) throw new BoltError(`page ${number} is another page`)
    const further = first.readUInt32LE(furtherAt)
    if (number + further >= pages) throw new BoltError(`page ${number} is longer than the file`)
    if (further === 0) return first
    const rest = await this.#file.read((number + 1) * pageSize, further * pageSize)
    if (rest.length < further * pageSize) throw new BoltError(`page ${number} is behind the end of the file`)
    return Buffer.concat([first, rest])
  }
}

interface Element {
  readonly key: Buffer
  readonly value: Buffer
  readonly flags: number
}

const noMeta: Meta = { pageSize: 0, root: 0, pages: 0, transaction: 0n }
const kindAt = 8
const countAt = 10
const furtherAt = 12

function elementAt(page: Buffer, index: number): number {
  const at = pageHeaderBytes + elementBytes * index
  if (at + elementBytes > page.length) throw new BoltError('a page has more elements than it can hold')
  return at
}

function* leafElements(page: Buffer): Generator<Element> {
  for (let index = 0; index < page.readUInt16LE(countAt); index++) {
    const at = elementAt(page, index)
    const keyAt = at + page.readUInt32LE(at + 4)
    const valueAt = keyAt + page.readUInt32LE(at + 8)
    const end = valueAt + page.readUInt32LE(at + 12)
    if (end > page.length) throw new BoltError('an entry is longer than its page')
    yield { key: page.subarray(keyAt, valueAt), value: page.subarray(valueAt, end), flags: page.readUInt32LE(at) }
  }
}

function inlineElements(description: Buffer): Iterable<Element> {
  const page = description.subarray(bucketHeaderBytes)
  if (page.length < pageHeaderBytes || page.readUInt16LE(kindAt) !== pageKinds.leaf)
    throw new BoltError('a small bucket is damaged')
  return leafElements(page)
}

async function* ordered(elements: AsyncIterable<Element> | Iterable<Element>): AsyncGenerator<BoltEntry> {
  let last: Buffer | undefined
  for await (const { key, value, flags } of elements) {
    if ((flags & bucketFlag) !== 0) continue
    if (last !== undefined && Buffer.compare(last, key) >= 0) throw new BoltError('the keys of a bucket are out of order')
    last = key
    yield { key, value }
  }
}
