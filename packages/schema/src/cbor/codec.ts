import { isLargeValue, memberNames, runAtOnce, sort, type Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { decodeFirst, encode, Token, Type } from 'cborg'
import type { StructType, TypeNode } from '../interfaces.ts'
import { encodeJson } from '../json/encode-json.direct.ts'
import { parseJson } from '../json/parse-json.direct.ts'
import { DecodeError } from '../schema-error.ts'
import { ByteWriter } from './byte-writer.ts'
import { checkStructure, readHead } from './structure.ts'

/** The only module that imports the CBOR library. */

export interface CborCodec {
  /** @param type identifies the strings that are base64 of binary values; absent: none is. */
  encode(value: object, type?: StructType): Uint8Array
  /** As `encode`, without the self-described CBOR tag, for values embedded in another document. */
  encodeBare(value: unknown, type?: StructType): Uint8Array
  /**
   * Decodes to a JSON value.
   *
   * Differs: strings of indefinite length are rejected.
   *
   * @throws DecodeError `Syntax`, `Depth`
   */
  decode(bytes: Uint8Array): unknown
  /** Pausable forms of the same operations, for large objects and documents. */
  readonly paced: PacedCborCodec
}

export interface PacedCborCodec {
  encode(value: object, type?: StructType): Work<Uint8Array>
  encodeBare(value: unknown, type?: StructType): Work<Uint8Array>
  decode(bytes: Uint8Array): Work<unknown>
}

/** Tag 55799. */
const selfDescription = Uint8Array.of(0xd9, 0xd9, 0xf7)
const base64Tag = 22
const text = new TextEncoder()

const encodeOptions = {
  float64: true,
  ignoreUndefinedProperties: true,
  typeEncoders: {
    string: (value: string) => [new Token(Type.bytes, text.encode(value))],
    Uint8Array: (value: Uint8Array) => [new Token(Type.tag, base64Tag), new Token(Type.bytes, value)],
  },
}

type Content = () => unknown

/** The text encoding that a tag assigns to a byte string: base64url, base64 and base16. */
const expectedText = (form: (bytes: Uint8Array) => string) => (content: Content) => {
  const value = content()
  return value instanceof Uint8Array ? form(value) : value
}

const decodeOptions = {
  useMaps: true,
  allowUndefined: false,
  allowNaN: false,
  allowInfinity: false,
  tags: {
    0: (content: Content) => content(),
    21: expectedText((bytes) => base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')),
    [base64Tag]: expectedText(base64),
    23: expectedText((bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')),
    55799: (content: Content) => content(),
  },
}

const paced: PacedCborCodec = {
  *encode(value, type) {
    const out = new ByteWriter()
    out.write(selfDescription)
    yield* writeValue(value, nodeOf(type), out)
    return out.bytes()
  },
  *encodeBare(value, type) {
    const out = new ByteWriter()
    yield* writeValue(value, nodeOf(type), out)
    return out.bytes()
  },
  *decode(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const long = yield* checkStructure(view)
    return yield* new DocumentReader(bytes, view, long).item()
  },
}

export const cborCodec: CborCodec = {
  encode: (value, type) => runAtOnce(paced.encode(value, type)),
  encodeBare: (value, type) => runAtOnce(paced.encodeBare(value, type)),
  decode: (bytes) => runAtOnce(paced.decode(bytes)),
  paced,
}

function nodeOf(type: StructType | undefined): TypeNode | undefined {
  return type === undefined ? undefined : { kind: 'struct', name: type.name, struct: () => type }
}

/** Encodes large values member by member, in the key order of the library: by length, then bytewise. */
function* writeValue(value: unknown, node: TypeNode | undefined, out: ByteWriter): Work {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || !isLargeValue(value)) {
    const plain = plainOf(value)
    out.write(encode(node === undefined ? plain : withBinary(plain, node), encodeOptions))
    return
  }
  if (Array.isArray(value)) {
    out.write(headOf(4, value.length))
    const element = node?.kind === 'list' ? node.of : undefined
    for (const item of value) {
      yield* writeValue(item, element, out)
      yield typeof item === 'object'
    }
    return
  }
  const members = yield* sortedMembers(value as Record<string, unknown>)
  out.write(headOf(5, members.length))
  for (const { key, name } of members) {
    out.write(headOf(2, key.length))
    out.write(key)
    const member = (value as Record<string, unknown>)[name]
    yield* writeValue(member, memberNode(node, name), out)
    yield typeof member === 'object'
  }
}

interface NamedMember {
  readonly name: string
  /** The member name in UTF-8. */
  readonly key: Uint8Array
}

function* sortedMembers(object: Record<string, unknown>): Work<NamedMember[]> {
  const members: NamedMember[] = []
  const names = memberNames(object)
  yield true
  for (const name of names) {
    if (object[name] !== undefined) members.push({ name, key: text.encode(name) })
    yield
  }
  return yield* sort(members, (a, b) => a.key.length - b.key.length || compareCodePoints(a.name, b.name))
}

function memberNode(node: TypeNode | undefined, name: string): TypeNode | undefined {
  if (node?.kind === 'map') return node.of
  if (node?.kind !== 'struct') return undefined
  const struct = node.struct()
  return struct.custom === undefined ? struct.field.get(name)?.type : undefined
}

/** Converts a value to its JSON form, which is what clients see. */
function plainOf(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  return Number.isSafeInteger(value) && value !== 0 ? value : parseJson(encodeJson(value)).value
}

/** The head of a string, array or map. */
function headOf(major: number, length: number): Uint8Array {
  const type = major << 5
  if (length < 24) return Uint8Array.of(type | length)
  if (length < 0x100) return Uint8Array.of(type | 24, length)
  if (length < 0x10000) return Uint8Array.of(type | 25, length >> 8, length & 0xff)
  return Uint8Array.of(type | 26, length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff)
}

/** Decodes a document whose structure was checked: long containers element by element, all other items in one step. */
class DocumentReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #long: ReadonlySet<number>
  #at = 0

  constructor(bytes: Uint8Array, view: DataView, long: ReadonlySet<number>) {
    this.#bytes = bytes
    this.#view = view
    this.#long = long
  }

  *item(): Work<unknown> {
    if (!this.#long.has(this.#at)) return this.#whole()
    const { major, length, end } = readHead(this.#view, this.#at)
    // Tags affect only byte strings, so the tags of containers are ignored.
    if (major === 6 && !(this.#long.has(end) && Object.hasOwn(decodeOptions.tags, length))) return this.#whole()
    this.#at = end
    if (major === 6) return yield* this.item()
    return major === 4 ? yield* this.#list(length) : yield* this.#map(length)
  }

  *#list(length: number): Work<unknown[]> {
    const list: unknown[] = []
    while (this.#continues(length, list.length)) {
      list.push(yield* this.item())
      yield true
    }
    return list
  }

  *#map(length: number): Work<Record<string, unknown>> {
    const map: Record<string, unknown> = {}
    for (let count = 0; this.#continues(length, count); count++) {
      const name = yield* this.item()
      addMember(map, name, yield* this.item())
      yield true
    }
    return map
  }

  /** Whether a container has another element. Skips the end of one with an indefinite length. */
  #continues(length: number, count: number): boolean {
    if (Number.isFinite(length)) return count < length
    if (this.#view.getUint8(this.#at) !== 0xff) return true
    this.#at++
    return false
  }

  #whole(): unknown {
    let found: [unknown, Uint8Array]
    try {
      found = decodeFirst(this.#bytes.subarray(this.#at), decodeOptions)
    } catch (error) {
      throw malformed(error instanceof Error ? error.message.replace(/^CBOR decode error: /, '') : String(error), error)
    }
    const [value, rest] = found
    this.#at = this.#bytes.length - rest.length
    return toJson(value)
  }
}

/** @throws DecodeError for a key that is not text, or a duplicate key. */
function addMember(map: Record<string, unknown>, name: unknown, value: unknown): void {
  if (typeof name !== 'string') throw malformed('map keys must be strings')
  if (Object.hasOwn(map, name)) throw malformed(`found duplicate map key ${JSON.stringify(name)}`)
  setMember(map, name, value)
}

function malformed(message: string, cause?: unknown): DecodeError {
  return new DecodeError({ code: 'Syntax', message: `cbor: ${message}`, cause })
}

/** Replaces base64 texts of binary fields by their bytes. Parts without such a field are shared. */
function withBinary(value: unknown, node: TypeNode): unknown {
  if (value === null || value === undefined) return value
  switch (node.kind) {
    case 'scalar':
      return node.scalar === 'bytes' && typeof value === 'string' ? fromBase64(value) : value
    case 'list':
      return Array.isArray(value) ? value.map((item) => withBinary(item, node.of)) : value
    case 'map':
      return mapMembers(value, () => node.of)
    case 'struct': {
      const struct = node.struct()
      return struct.custom === undefined ? mapMembers(value, (name) => struct.field.get(name)?.type) : value
    }
    default:
      return value
  }
}

function mapMembers(value: unknown, typeOf: (name: string) => TypeNode | undefined): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const type = typeOf(name)
      return [name, type === undefined ? member : withBinary(member, type)]
    }),
  )
}

const strict = new TextDecoder('utf-8', { fatal: true })

/**
 * Converts a decoded item to JSON: byte strings become strings; map keys must be unique strings, and integers must fit 64
 * bits.
 */
function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return textOf(value)
  if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value) throw overflow(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (!(value instanceof Map)) return value
  const map: Record<string, unknown> = {}
  for (const [key, member] of value as ReadonlyMap<unknown, unknown>) addMember(map, toJson(key), toJson(member))
  return map
}

/** Unlike in JSON and YAML, an integer beyond 64 bits is an error, not a float. */
function overflow(value: bigint): DecodeError {
  const sign = value < 0n ? 'negative' : 'positive'
  return malformed(`cannot unmarshal ${sign} integer into Go value of type int64 (${value} overflows Go's int64)`)
}

function textOf(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch (cause) {
    throw malformed('invalid UTF-8 string', cause)
  }
}

function base64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

function fromBase64(encoded: string): Uint8Array {
  return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
}
