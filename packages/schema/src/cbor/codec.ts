import { decode, encode, Token, Type } from 'cborg'
import { DecodeError } from '../errors.ts'
import type { StructType, TypeNode } from '../interfaces.ts'
import { encodeJson } from '../json/encode-json.ts'
import { parseJson } from '../json/parse-json.ts'
import { checkStructure } from './structure.ts'

/** The only module that imports the CBOR library. */

export interface CborCodec {
  /** @param type tells which texts are base64 of binary values; absent: none. */
  encode(value: object, type?: StructType): Uint8Array
  /** As `encode`, without the tag that identifies CBOR: for values inside another. */
  encodeBare(value: unknown, type?: StructType): Uint8Array
  /**
   * Decodes to a JSON value.
   *
   * Differs: strings of indefinite length are refused.
   *
   * @throws DecodeError `Syntax`, `Depth`
   */
  decode(bytes: Uint8Array): unknown
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

/** Text encodings that a tag expects of a byte string: base64url, base64 and base16. */
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

export const cborCodec: CborCodec = {
  encode(value, type) {
    const bare = this.encodeBare(value, type)
    const bytes = new Uint8Array(selfDescription.length + bare.length)
    bytes.set(selfDescription)
    bytes.set(bare, selfDescription.length)
    return bytes
  },
  encodeBare(value, type) {
    // Through JSON text, which holds every value in the form that clients see.
    const plain = parseJson(encodeJson(value as object)).value
    return encode(
      type === undefined ? plain : withBinary(plain, { kind: 'struct', name: type.name, struct: () => type }),
      encodeOptions,
    )
  },
  decode(bytes) {
    checkStructure(bytes)
    let value: unknown
    try {
      value = decode(bytes, decodeOptions)
    } catch (error) {
      throw malformed(error instanceof Error ? error.message.replace(/^CBOR decode error: /, '') : String(error), error)
    }
    return toJson(value)
  },
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

/** Byte strings are texts; keys of maps must be texts that occur once. */
function toJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return textOf(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (!(value instanceof Map)) return value
  const members = new Map<string, unknown>()
  for (const [key, member] of value as ReadonlyMap<unknown, unknown>) {
    const name = key instanceof Uint8Array ? textOf(key) : key
    if (typeof name !== 'string') throw malformed('map keys must be strings')
    if (members.has(name)) throw malformed(`found duplicate map key ${JSON.stringify(name)}`)
    members.set(name, toJson(member))
  }
  return Object.fromEntries(members)
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
