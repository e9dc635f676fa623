import type { Work } from '@krmkit/base/work'
import { DecodeError } from '../schema-error.ts'

/** Bounds the structure of a CBOR document before it is decoded, so that decoding neither recurses deeply nor allocates much. */

/** Limits of kube-apiserver. */
const maxDepth = 64
const maxElements = 1024

/** Containers longer than this are decoded element by element. */
const stepBytes = 64 * 1024

/** Items read between two yields. */
const itemsPerStep = 256

/**
 * Traverses a document; pausable.
 *
 * @returns the positions of the containers and tags that are too long to be decoded in one step.
 * @throws DecodeError `Syntax` for a truncated document or too many elements, `Depth`
 */
export function* checkStructure(view: DataView): Work<ReadonlySet<number>> {
  const long = new Set<number>()
  /**
   * The number of items left in each open container; containers of indefinite length share the limit of other containers.
   */
  const open: Container[] = [{ rest: 1, indefinite: undefined, start: 0 }]
  let at = 0
  for (let items = 0; open.length > 0; items++) {
    if (items % itemsPerStep === itemsPerStep - 1) yield
    const container = open[open.length - 1] as Container
    if (container.rest === 0 && container.indefinite === undefined) {
      open.pop()
      if (at - container.start > stepBytes) long.add(container.start)
      continue
    }
    const start = at
    const head = readHead(view, at)
    at = head.end
    if (head.isBreak) {
      if (container.indefinite === undefined) throw syntax('unexpected "break" code')
      open.pop()
      if (at - container.start > stepBytes) long.add(container.start)
      continue
    }
    if (container.rest === 0) throw tooMany(container.indefinite as number)
    container.rest--
    const inside = itemsOf(head)
    if (head.major === 2 || head.major === 3) at += Number.isFinite(inside) ? head.length : 0
    if (at > view.byteLength) throw truncated('unexpected EOF')
    if (inside > 0) open.push(containerOf(head, inside, start))
    if (open.length - 1 > maxDepth)
      throw new DecodeError({ code: 'Depth', message: `cbor: exceeded max nested level ${maxDepth}` })
  }
  if (at < view.byteLength) throw syntax(`${view.byteLength - at} bytes of extraneous data starting at index ${at}`)
  return long
}

interface Container {
  rest: number
  /** Major type of a container of indefinite length, which a break ends. */
  readonly indefinite: number | undefined
  readonly start: number
}

function containerOf({ major }: Head, items: number, start: number): Container {
  if (Number.isFinite(items)) return { rest: items, indefinite: undefined, start }
  return { rest: major === 5 ? maxElements * 2 : maxElements, indefinite: major, start }
}

/** The head of an item. */
export interface Head {
  readonly major: number
  /** Length of a string, or number of items; infinite for an indefinite length. */
  readonly length: number
  readonly isBreak: boolean
  readonly end: number
}

export function readHead(view: DataView, at: number): Head {
  if (at >= view.byteLength) throw truncated(at === 0 ? 'EOF' : 'unexpected EOF')
  const first = view.getUint8(at)
  const [major, info] = [first >> 5, first & 31]
  if (info === 31) return { major, length: Number.POSITIVE_INFINITY, isBreak: major === 7, end: at + 1 }
  if (info < 24) return { major, length: info, isBreak: false, end: at + 1 }
  if (info > 27) throw syntax(`invalid additional information ${info} for type ${major}`)
  const size = 1 << (info - 24)
  if (at + 1 + size > view.byteLength) throw truncated('unexpected EOF')
  const length =
    size === 1
      ? view.getUint8(at + 1)
      : size === 2
        ? view.getUint16(at + 1)
        : size === 4
          ? view.getUint32(at + 1)
          : Number(view.getBigUint64(at + 1))
  return { major, length, isBreak: false, end: at + 1 + size }
}

/** Number of items inside; 0 for scalars. Chunks of an indefinite string count as items. */
function itemsOf({ major, length }: Head): number {
  const isCounted = Number.isFinite(length)
  if (major === 4 || major === 5) {
    if (isCounted && length > maxElements) {
      throw tooMany(major)
    }
    return major === 5 && isCounted ? length * 2 : length
  }
  if (major === 6) return 1
  return (major === 2 || major === 3) && !isCounted ? length : 0
}

function tooMany(major: number): DecodeError {
  const what = major === 5 ? `key-value pairs ${maxElements} for CBOR map` : `elements ${maxElements} for CBOR array`
  return syntax(`exceeded max number of ${what}`)
}

/** Errors of Go's readers have no `cbor:` prefix. */
function truncated(message: string): DecodeError {
  return new DecodeError({ code: 'Syntax', message })
}

function syntax(message: string): DecodeError {
  return new DecodeError({ code: 'Syntax', message: `cbor: ${message}` })
}
