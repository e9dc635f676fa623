import { newReader } from '../../protobuf/wire.ts'

/** A protobuf message as values by field number. */

export type Decoded = Map<number, (string | bigint | Uint8Array)[]>

/** Reads one message; length-delimited fields are returned as bytes. */
export function read(bytes: Uint8Array): Decoded {
  const reader = newReader(bytes)
  const found: Decoded = new Map()
  while (reader.pos < reader.len) {
    const tag = reader.uint32()
    const value = (tag & 7) === 2 ? reader.bytes() : (tag & 7) === 1 ? String(reader.double()) : BigInt(reader.uint32())
    found.set(tag >>> 3, [...(found.get(tag >>> 3) ?? []), value])
  }
  return found
}

export const text = (value: unknown) => new TextDecoder().decode(value as Uint8Array)

/** Follows field numbers into nested messages, taking the first occurrence of each. */
export function at(bytes: Uint8Array, ...numbers: number[]): unknown {
  let current: unknown = bytes
  for (const number of numbers) current = read(current as Uint8Array).get(number)?.[0]
  return current
}
