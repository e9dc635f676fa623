import { ProtocolError } from './frames.ts'

/** Bytes before a message of gRPC: whether it is compressed, and its length. */
export const messageHeadBytes = 5

/** Cuts the data of a stream into the messages of gRPC. */
export class MessageReader {
  #chunks: Buffer[] = []
  #length = 0
  /** Bytes that the first incomplete message needs. */
  #needed = messageHeadBytes

  /** @param receive gets views of the data @throws ProtocolError for a compressed message, which was not asked for */
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
