import { turnsDuring } from '@krmkit/base/testing'
import { createFeatureGates } from '@krmkit/versioning'
import { beforeAll, describe, expect, it } from 'vitest'
import { definitionsPath, eventually, widgetDefinition } from '../custom-resources/testing/widgets.ts'
import { administrator, requestOf, type SampleServer, sampleServer } from '../testing/sample-server.ts'

/** Large objects in representations that differ from the stored form. */

const at = (version: string, name = '') => `/apis/g.example.com/${version}/namespaces/default/widgets${name}`
const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const count = 90_000
const spec = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]))
let sample: SampleServer

/** Creates an object for one test: representations are cached, so each test reads its own object. */
async function create(name: string, size: string): Promise<void> {
  const metadata = { name, labels: { size } }
  const body = { apiVersion: 'g.example.com/v1', kind: 'Widget', metadata, spec }
  expect((await sample.ask(at('v1'), { method: 'POST', body })).status).toBe(201)
}

beforeAll(async () => {
  sample = await sampleServer({ features: createFeatureGates({ set: 'CBORServingAndStorage=true' }) })
  await sample.ask(definitionsPath, { method: 'POST', body: widgetDefinition([{ schema }, { schema }]) })
  await eventually(
    () => sample.ask(at('v2')),
    ({ status }) => status === 200,
  )
})

/** Number of bytes of the first chunk of a body. */
async function firstPiece(target: string, accept: string): Promise<number> {
  const { body } = await sample.server.handle(requestOf(target, { user: administrator, headers: { accept } }))
  if (body.kind === 'bytes') return body.bytes.byteLength
  if (body.kind === 'list') return body.length
  if (body.kind !== 'stream') return 0
  const events = body.stream[Symbol.asyncIterator]()
  const { value } = await events.next()
  await events.return?.()
  return value.byteLength
}

describe('large objects are encoded in slices', () => {
  it.each([
    ['of another version', 'get', 'v2', 'application/json'],
    ['in CBOR', 'get', 'v1', 'application/cbor'],
    ['of another version, in a list', 'list', 'v2', 'application/json'],
    ['in CBOR, in a list', 'list', 'v1', 'application/cbor'],
    ['of another version, in a watch', 'watch', 'v2', 'application/json'],
    ['in CBOR, in a watch', 'watch', 'v1', 'application/cbor'],
  ])('%s', async (name, verb, version, accept) => {
    const size = `${verb}-${version}`
    await create(size, size)
    const query = verb === 'watch' ? `?watch=true&labelSelector=size%3D${size}` : `?labelSelector=size%3D${size}`
    const target = verb === 'get' ? at(version, `/${size}`) : at(version) + query
    const { turns, result: bytes } = await turnsDuring(() => firstPiece(target, accept))
    expect(bytes, name).toBeGreaterThan(count * 5)
    expect(turns, name).toBeGreaterThan(6)
  })
})
