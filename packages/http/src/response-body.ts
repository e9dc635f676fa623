import { concatBytes } from '@krmkit/base/bytes'
import type { BodyPiece } from '@krmkit/protocol'

/** Reading and discarding response bodies, in every runtime. */

/** Parts are joined up to this size, to make fewer writes without copying a large list as a whole. */
const groupBytes = 256 * 1024
/** Size of the pieces of a body whose unsent bytes count against a limit. */
export const pieceBytes = 64 * 1024

/** Joins the parts of a list into chunks large enough for one write each. */
export function* groupParts(parts: readonly (Uint8Array | BodyPiece)[]): Generator<Uint8Array, void, undefined> {
  let group: Uint8Array[] = []
  let length = 0
  for (const part of parts) {
    group.push(bytesOf(part))
    length += part.byteLength
    if (length < groupBytes) continue
    yield group.length === 1 ? group[0]! : concatBytes(group, length)
    group = []
    length = 0
  }
  if (length > 0) yield concatBytes(group, length)
}

/** Splits a body for a sink that limits written but unsent bytes. */
export function* splitBytes(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

/** Joins all parts of a list; `length` is their sum in bytes. */
export function joinParts(parts: readonly (Uint8Array | BodyPiece)[], length: number): Uint8Array {
  return parts.length === 1 ? bytesOf(parts[0]!) : concatBytes(parts.map(bytesOf), length)
}

function bytesOf(part: Uint8Array | BodyPiece): Uint8Array {
  return part instanceof Uint8Array ? part : part.bytes()
}

/** Cancels a body stream that will not be read. */
export function cancelStream(stream: AsyncIterable<Uint8Array>): void {
  stream[Symbol.asyncIterator]()
    .return?.(undefined)
    .catch(() => undefined)
}
