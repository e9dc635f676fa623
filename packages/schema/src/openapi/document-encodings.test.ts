import { runAtOnce } from '@krmkit/base/work'
import { describe, expect, it } from 'vitest'
import { discoveryTypes } from '../../testdata/discovery-types.ts'
import { type DocumentEncodingName, documentEncodings } from './document-encodings.ts'
import { openapiV2Document, openapiV3Document } from './documents.ts'
import { encodeOpenapiV2 } from './gnostic-v2.ts'
import { encodeOpenapiV3 } from './gnostic-v3.ts'
import { groupVersionParts } from './parts.ts'
import type { PublishedGroupVersion } from './resources.ts'
import { createKindLookup, type PartEntry } from './schemas.ts'

const source = discoveryTypes()
const options = { source, info: { title: 'Test', version: 'v1.33.0' }, kindsOf: createKindLookup(source) }
const core: PublishedGroupVersion = {
  group: '',
  version: 'v1',
  resources: [
    {
      name: 'pods',
      namespaced: true,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      body: source.struct('core/v1.Pod'),
      list: source.struct('core/v1.PodList'),
      deleteReturnsObject: true,
    },
  ],
}

function assembled(name: DocumentEncodingName): Uint8Array {
  const { dialect, encode, join } = documentEncodings[name]
  const parts = runAtOnce(groupVersionParts(core, { ...options, dialect }))
  const sorted = (entries: readonly PartEntry[], encodeOne: (entry: PartEntry) => Uint8Array) =>
    [...entries].sort((a, b) => (a.name < b.name ? -1 : 1)).map(encodeOne)
  const encoded = {
    paths: sorted(parts.paths, encode.paths),
    schemas: sorted(parts.schemas, (entry) => runAtOnce(encode.schemas(entry))),
    parameters: sorted(parts.parameters, encode.parameters),
  }
  return Buffer.concat(join(encoded, options.info))
}

describe('documents assembled from encoded parts', () => {
  const v2 = openapiV2Document([core], options)
  const v3 = openapiV3Document(core, options)

  it('equal whole documents in JSON', () => {
    expect(JSON.parse(Buffer.from(assembled('v2 json')).toString())).toEqual(v2)
    expect(JSON.parse(Buffer.from(assembled('v3 json')).toString())).toEqual(v3)
  })

  it('equal whole documents in protobuf, regardless of field order', () => {
    expect(fieldsOf(assembled('v2 protobuf'))).toEqual(fieldsOf(encodeOpenapiV2(v2)))
    expect(fieldsOf(assembled('v3 protobuf'))).toEqual(fieldsOf(encodeOpenapiV3(v3)))
  })

  it('are encoded with many yields', () => {
    const steps = groupVersionParts(core, { ...options, dialect: 'v3' })
    let count = 0
    while (steps.next().done !== true) count++
    expect(count).toBeGreaterThan(10)
  })
})

/** The fields of a document as sorted text. */
function fieldsOf(bytes: Uint8Array): string[] {
  const found: string[] = []
  let at = 0
  while (at < bytes.length) {
    const start = at
    at++
    let length = 0
    let shift = 0
    for (;;) {
      const byte = bytes[at++] as number
      length |= (byte & 0x7f) << shift
      shift += 7
      if (byte < 0x80) break
    }
    at += length
    found.push(Buffer.from(bytes.subarray(start, at)).toString('base64'))
  }
  return found.sort()
}
