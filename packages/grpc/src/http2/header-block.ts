/**
 * Header blocks without a dynamic table: this side does not use one, and sets the table size of the peer to 0. Thus equal blocks always
 * have the same meaning, and the few different blocks that a server sends are decoded once.
 */
import { HpackDecoder } from '@krmkit/base/hpack'
import { ProtocolError, resetCode } from './frames.ts'

export type Headers = ReadonlyMap<string, string>

/** Maximum number of cached blocks; the blocks of successful calls repeat. */
const rememberedBlocks = 16
const longestRemembered = 256

/** Decodes the header blocks of one connection. */
export class HeaderDecoder {
  readonly #decoder = new HpackDecoder({ maxTableSize: 0 })
  readonly #known = new Map<string, Headers>()

  /** The fields of a block, by lower-case name. @throws ProtocolError for damage, and for a reference to a dynamic table */
  decode(block: Buffer): Headers {
    if (block.length > longestRemembered) return this.#read(block)
    const text = block.toString('latin1')
    let headers = this.#known.get(text)
    if (headers === undefined) {
      headers = this.#read(block)
      if (this.#known.size < rememberedBlocks) this.#known.set(text, headers)
    }
    return headers
  }

  #read(block: Buffer): Headers {
    const headers = new Map<string, string>()
    const isWhole = this.#decoder.decode(block, { add: ({ name, value }) => headers.set(name, value) })
    if (!isWhole) throw new ProtocolError('damaged header block', resetCode.compression)
    return headers
  }
}
