/** Writes a bbolt file in one pass. The tree of each bucket is built from sorted entries, in full pages and without free pages. */
import { bucketFlag, bucketHeaderBytes, elementBytes, pageHeaderBytes, pageKinds, writeMeta } from './page-format.ts'

export interface BoltEntry {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** A bucket by its name, with entries in the order of their keys. */
export type BoltBuckets = Readonly<Record<string, readonly BoltEntry[]>>

/** The page size that etcd uses on most machines. Each file states its own page size. */
const pageSize = 4096
/** Buckets up to this size are stored inline, in the entry with their name. */
const maxInlineBytes = pageSize / 4
/** bbolt counts the elements of a page in 16 bits. */
const maxElements = 0xffff - 1
const metaPages = 2

interface Element extends BoltEntry {
  readonly flags: number
}

interface Child {
  readonly key: Uint8Array
  readonly page: number
}

/** The pages of a file in order, each with its overflow pages. */
export function* boltPages(buckets: BoltBuckets): Generator<Buffer> {
  const planned = new PlannedPages()
  const names = Object.keys(buckets).map((name) => ({ name, key: Buffer.from(name) }))
  names.sort((one, other) => Buffer.compare(one.key, other.key))
  const described: Element[] = names.map(({ name, key }) => ({
    key,
    value: describeBucket(planned, buckets[name] ?? []),
    flags: bucketFlag,
  }))
  const root = planned.add(pageBytes(described), (number) => leafPage(number, described))
  for (const number of [0, 1]) {
    const page = Buffer.alloc(pageSize)
    writePageHeader(page, { number, kind: pageKinds.meta, count: 0 })
    writeMeta(page, { pageSize, root, pages: planned.count, transaction: BigInt(number) })
    yield page
  }
  yield* planned.pages()
}

/** Assigns page numbers before pages are built, because the first pages of a file refer to the last ones. */
class PlannedPages {
  readonly #planned: { readonly number: number; readonly make: (number: number) => Buffer }[] = []
  #next = metaPages

  /** Number of pages so far. */
  get count(): number {
    return this.#next
  }

  /** @param bytes size of the content @returns the number of the first page */
  add(bytes: number, make: (number: number) => Buffer): number {
    const number = this.#next
    this.#next += Math.ceil(bytes / pageSize)
    this.#planned.push({ number, make })
    return number
  }

  *pages(): Generator<Buffer> {
    for (const { number, make } of this.#planned) yield make(number)
  }
}

function describeBucket(planned: PlannedPages, entries: readonly BoltEntry[]): Uint8Array {
  const elements = entries.map(({ key, value }) => ({ key, value, flags: 0 }))
  const header = Buffer.alloc(bucketHeaderBytes)
  const bytes = pageBytes(elements)
  if (bytes <= maxInlineBytes) return Buffer.concat([header, leafPage(0, elements).subarray(0, bytes)])
  header.writeBigUInt64LE(BigInt(plantTree(planned, elements)))
  return header
}

/** Plans the pages of a tree, leaves first. @returns the page of its root */
function plantTree(planned: PlannedPages, elements: readonly Element[]): number {
  let level: Child[] = pagesOf(elements).map((group) => ({
    key: group[0]!.key,
    page: planned.add(pageBytes(group), (number) => leafPage(number, group)),
  }))
  while (level.length > 1) {
    level = pagesOf(level).map((group) => ({
      key: group[0]!.key,
      page: planned.add(pageBytes(group), (number) => branchPage(number, group)),
    }))
  }
  return level[0]!.page
}

type Sized = { readonly key: Uint8Array; readonly value?: Uint8Array }

const bytesOf = ({ key, value }: Sized): number => elementBytes + key.length + (value?.length ?? 0)

function pageBytes(elements: readonly Sized[]): number {
  return elements.reduce((sum, element) => sum + bytesOf(element), pageHeaderBytes)
}

/** Groups elements into pages. An element that does not fit one page gets overflow pages. */
function pagesOf<T extends Sized>(elements: readonly T[]): T[][] {
  const groups: T[][] = []
  let bytes = pageSize
  for (const element of elements) {
    const last = groups.at(-1)
    bytes += bytesOf(element)
    if (last !== undefined && bytes <= pageSize && last.length < maxElements) last.push(element)
    else {
      groups.push([element])
      bytes = pageHeaderBytes + bytesOf(element)
    }
  }
  return groups
}

function leafPage(number: number, elements: readonly Element[]): Buffer {
  const page = emptyPage(number, { bytes: pageBytes(elements), kind: pageKinds.leaf, count: elements.length })
  let dataAt = pageHeaderBytes + elementBytes * elements.length
  elements.forEach(({ key, value, flags }, index) => {
    const at = pageHeaderBytes + elementBytes * index
    page.writeUInt32LE(flags, at)
    page.writeUInt32LE(dataAt - at, at + 4)
    page.writeUInt32LE(key.length, at + 8)
    page.writeUInt32LE(value.length, at + 12)
    page.set(key, dataAt)
    page.set(value, dataAt + key.length)
    dataAt += key.length + value.length
  })
  return page
}

function branchPage(number: number, children: readonly Child[]): Buffer {
  const page = emptyPage(number, { bytes: pageBytes(children), kind: pageKinds.branch, count: children.length })
  let dataAt = pageHeaderBytes + elementBytes * children.length
  children.forEach(({ key, page: below }, index) => {
    const at = pageHeaderBytes + elementBytes * index
    page.writeUInt32LE(dataAt - at, at)
    page.writeUInt32LE(key.length, at + 4)
    page.writeBigUInt64LE(BigInt(below), at + 8)
    page.set(key, dataAt)
    dataAt += key.length
  })
  return page
}

function emptyPage(
  number: number,
  { bytes, kind, count }: { readonly bytes: number; readonly kind: number; readonly count: number },
): Buffer {
  const page = Buffer.alloc(Math.ceil(bytes / pageSize) * pageSize)
  writePageHeader(page, { number, kind, count })
  page.writeUInt32LE(page.length / pageSize - 1, 12)
  return page
}

function writePageHeader(page: Buffer, { number, kind, count }: { number: number; kind: number; count: number }): void {
  page.writeBigUInt64LE(BigInt(number), 0)
  page.writeUInt16LE(kind, 8)
  page.writeUInt16LE(count, 10)
}
