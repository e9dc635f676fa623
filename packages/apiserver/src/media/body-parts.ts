import { concatBytes } from '@krmkit/base/bytes'
import type { ApiBody } from '@krmkit/protocol'

/** Size of one part in bytes; a longer piece becomes a part by itself. */
const partBytes = 64 * 1024

/** Collects a body piece by piece: joins small pieces and copies no large ones. */
export class BodyParts {
  readonly #parts: Uint8Array[] = []
  #length = 0
  /** The text or small pieces of the next part. */
  #text = ''
  #group: Uint8Array[] = []
  #groupLength = 0

  text(text: string): void {
    this.#text += text
    if (this.#text.length >= partBytes) this.#endText()
  }

  bytes(bytes: Uint8Array): void {
    this.#endText()
    this.#add(bytes)
  }

  /** @param before bytes to put before the collected pieces, when they are known only at the end */
  end(before?: Uint8Array): ApiBody {
    this.#endText()
    this.#endGroup()
    const parts = before === undefined ? this.#parts : [before, ...this.#parts]
    const length = this.#length + (before?.byteLength ?? 0)
    if (length === 0) return { kind: 'empty' }
    if (parts.length > 2) return { kind: 'list', parts, length }
    return { kind: 'bytes', bytes: parts.length === 1 ? (parts[0] as Uint8Array) : concatBytes(parts, length) }
  }

  #endText(): void {
    if (this.#text === '') return
    const text = this.#text
    this.#text = ''
    this.#add(encoder.encode(text))
  }

  #add(bytes: Uint8Array): void {
    if (this.#groupLength + bytes.byteLength > partBytes) this.#endGroup()
    this.#group.push(bytes)
    this.#groupLength += bytes.byteLength
    this.#length += bytes.byteLength
  }

  #endGroup(): void {
    if (this.#group.length === 0) return
    this.#parts.push(this.#group.length === 1 ? (this.#group[0] as Uint8Array) : concatBytes(this.#group, this.#groupLength))
    this.#group = []
    this.#groupLength = 0
  }
}

const encoder = new TextEncoder()
