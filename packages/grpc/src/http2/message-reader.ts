import { ProtocolError } from './frames.ts'

/** Size of the head of a gRPC message: the compression flag and the length. */
export const messageHeadBytes = 5

/** Splits the data of a stream into gRPC messages. */
export class MessageReader {
  #chunks: Buffer[] = []
  #length = 0
  /** Bytes that the first incomplete message needs. */
  #needed = messageHeadBytes

  /**
   * @param receive gets views of the data @throws ProtocolError for a compressed message, because the client does not accept compression
   */
  push(chunk: Buffer, receive: (message: Buffer) => void): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    if (this.#length < this.#needed) return
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#length)
    let at = 0
    this.#needed = messageHeadBytes
    while (bytes.length - at >= messageHeadBytes) {
      if (bytes[at] !== 0) throw new ProtocolError('a compressed message')
      const size = bytes.readUInt32BE(at + 1)
      const start = at + messageHeadBytes
      if (bytes.length - start < size) {
        this.#needed = messageHeadBytes + size
        break
      }
      at = start + size
      receive(bytes.subarray(start, at))
    }
    this.#chunks = at === bytes.length ? [] : [bytes.subarray(at)]
    this.#length = bytes.length - at
  }
}
