import type { Work } from '@krmkit/base/work'
import type { JsonObject } from '@krmkit/meta'
import { bytesTag } from '../protobuf/wire.ts'
import type { Dialect } from './dialect.ts'
import type { OpenApiInfo } from './documents.ts'
import { encodeOpenapiV2, entriesV2 } from './gnostic-v2.ts'
import { encodeOpenapiV3, entriesV3 } from './gnostic-v3.ts'
import { encoded } from './gnostic-wire.ts'
import type { PartEntry } from './schemas.ts'
import { bearerToken } from './v3.ts'

/** Encodings of documents: each encodes members separately and joins them to a document. */

/** Encoded members in document order. */
export interface EncodedParts {
  readonly paths: readonly Uint8Array[]
  readonly schemas: readonly Uint8Array[]
  readonly parameters: readonly Uint8Array[]
  /** Whether a v3 document declares the bearer token security scheme; documents of custom resources do not. Default true. */
  readonly securitySchemes?: boolean
}

/** Encoding of a document. */
export interface DocumentEncoding {
  readonly dialect: Dialect
  readonly encode: {
    readonly paths: (entry: PartEntry) => Uint8Array
    /** Pausable, because definitions may come from clients. */
    readonly schemas: (entry: PartEntry) => Work<Uint8Array>
    readonly parameters: (entry: PartEntry) => Uint8Array
  }
  /** The chunks of the document, to be sent in order. */
  join(parts: EncodedParts, info: OpenApiInfo): Uint8Array[]
}

/** Name of a document encoding, such as `v3 json`. */
export type DocumentEncodingName = `${Dialect} ${'json' | 'protobuf'}`

const utf8 = new TextEncoder()

function* built(entry: PartEntry): Work<JsonObject> {
  return entry.paced === undefined ? entry.build() : yield* entry.paced.build()
}

function jsonText(name: string, value: JsonObject): Uint8Array {
  return utf8.encode(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
}

const jsonMembers: DocumentEncoding['encode'] = {
  paths: ({ name, build: make }) => jsonText(name, make()),
  *schemas(entry) {
    const schema = yield* built(entry)
    yield true
    return jsonText(entry.name, schema)
  },
  parameters: ({ name, build: make }) => jsonText(name, make()),
}
const comma = utf8.encode(',')

function* list(members: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const [index, member] of members.entries()) {
    if (index > 0) yield comma
    yield member
  }
}

function textOf(value: object): string {
  return JSON.stringify(value)
}

const jsonV3: DocumentEncoding = {
  dialect: 'v3',
  encode: jsonMembers,
  join({ paths, schemas, securitySchemes = true }, info) {
    const security = securitySchemes ? `,"securitySchemes":${textOf({ BearerToken: bearerToken() })}` : ''
    return [
      utf8.encode(`{"openapi":"3.0.0","info":${textOf(info)},"paths":{`),
      ...list(paths),
      utf8.encode('},"components":{"schemas":{'),
      ...list(schemas),
      utf8.encode(`}${security}}}`),
    ]
  },
}

const jsonV2: DocumentEncoding = {
  dialect: 'v2',
  encode: jsonMembers,
  join({ paths, schemas, parameters }, info) {
    const security = `"securityDefinitions":${textOf({ BearerToken: bearerToken() })},"security":[{"BearerToken":[]}]`
    return [
      utf8.encode(`{"swagger":"2.0","info":${textOf(info)},"paths":{`),
      ...list(paths),
      utf8.encode('},"definitions":{'),
      ...list(schemas),
      utf8.encode('},"parameters":{'),
      ...list(parameters),
      utf8.encode(`},${security}}`),
    ]
  },
}

/** Returns tag and length of a message field, without its content. */
function opened(number: number, content: readonly Uint8Array[], more = 0): Uint8Array {
  const length = content.reduce((sum, { byteLength }) => sum + byteLength, more)
  return encoded((writer) => writer.uint32(bytesTag(number)).uint32(length))
}

const protobufV3: DocumentEncoding = {
  dialect: 'v3',
  encode: {
    paths: ({ name, build: make }) => entriesV3.path(name, make()),
    *schemas(entry) {
      return yield* entriesV3.schema(entry.name, yield* built(entry))
    },
    parameters: () => new Uint8Array(),
  },
  join({ paths, schemas, securitySchemes = true }, info) {
    const schemasHead = opened(1, schemas)
    const security = encodeOpenapiV3({ components: { securitySchemes: { BearerToken: bearerToken() } } })
    const components = [schemasHead, ...schemas, ...(securitySchemes ? [securityOf(security)] : [])]
    return [
      encodeOpenapiV3({ openapi: '3.0.0', info: { ...info } }),
      opened(4, paths),
      ...paths,
      opened(5, components),
      ...components,
    ]
  },
}

/** Content of the only field of a document. */
function securityOf(document: Uint8Array): Uint8Array {
  let at = 1
  while ((document[at] as number) >= 0x80) at++
  return document.subarray(at + 1)
}

const protobufV2: DocumentEncoding = {
  dialect: 'v2',
  encode: {
    paths: ({ name, build: make }) => entriesV2.path(name, make()),
    *schemas(entry) {
      return yield* entriesV2.schema(entry.name, yield* built(entry))
    },
    parameters: ({ name, build: make }) => entriesV2.parameter(name, make()),
  },
  join({ paths, schemas, parameters }, info) {
    const security: JsonObject = { security: [{ BearerToken: [] }], securityDefinitions: { BearerToken: bearerToken() } }
    return [
      encodeOpenapiV2({ swagger: '2.0', info: { ...info } }),
      opened(8, paths),
      ...paths,
      opened(9, schemas),
      ...schemas,
      opened(10, parameters),
      ...parameters,
      encodeOpenapiV2(security),
    ]
  },
}

/**
 * Encodings of documents by name.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { runAtOnce } from '@krmkit/base/work'
 * import { createKindLookup, documentEncodings, groupVersionParts } from '@krmkit/schema/openapi'
 * const source = builtInTypes()
 * const core = { group: '', version: 'v1', resources: [] }
 * const parts = runAtOnce(groupVersionParts(core, { source, kindsOf: createKindLookup(source), dialect: 'v3' }))
 * const { encode, join } = documentEncodings['v3 json']
 * const encoded = { paths: parts.paths.map(encode.paths), schemas: parts.schemas.map((entry) => runAtOnce(encode.schemas(entry))), parameters: [] }
 * const document = Buffer.concat(join(encoded, { title: 'API', version: 'v1.33.0' }))
 * JSON.parse(String(document)).openapi // '3.0.0'
 */
export const documentEncodings: Readonly<Record<DocumentEncodingName, DocumentEncoding>> = {
  'v2 json': jsonV2,
  'v2 protobuf': protobufV2,
  'v3 json': jsonV3,
  'v3 protobuf': protobufV3,
}
