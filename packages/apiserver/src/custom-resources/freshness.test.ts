import { fakeClock, type JsonObject } from '@krmkit/meta'
import { memoryStorage } from '@krmkit/storage'
import { afterEach, expect, it } from 'vitest'
import { createApiServer, type EmbeddedServer } from '../server/server.ts'
import { definitionsPath, widgetDefinition } from './testing/widgets.ts'

/** Discovery and OpenAPI reflect every change without delay. The clock of these servers does not advance. */

const servers: EmbeddedServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

const definition = (versions: string[], properties: JsonObject): JsonObject =>
  widgetDefinition(versions.map((name) => ({ name, schema: { openAPIV3Schema: { type: 'object', properties } } })))

async function start() {
  const server = await createApiServer({ storage: memoryStorage(), clock: fakeClock(Date.UTC(2025, 0, 2)) })
  servers.push(server)
  return async (method: string, path: string, given?: unknown, accept = 'application/json') => {
    const bytes = new TextEncoder().encode(given === undefined ? '' : JSON.stringify(given))
    const response = await server.handle({
      method,
      path,
      query: '',
      headers: { 'content-type': 'application/json', accept },
      body: async () => bytes,
      peer: {},
      signal: new AbortController().signal,
    })
    const { body } = response
    const parts = body.kind === 'bytes' ? [body.bytes] : body.kind === 'list' ? body.parts : []
    const text = Buffer.concat(parts.map((part) => (part instanceof Uint8Array ? part : part.bytes()))).toString()
    return { text, etag: String(response.headers.etag ?? ''), status: response.status }
  }
}

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const document = '/openapi/v3/apis/g.example.com/v1'

it('updates discovery, aggregated discovery and both OpenAPI versions at once after a change of a definition', async () => {
  const call = await start()
  const look = async () => {
    // Background work of the server completes before the next request.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    const index = await call('GET', '/openapi/v3')
    const hashes = (JSON.parse(index.text) as { paths: Record<string, { serverRelativeURL: string }> }).paths
    return {
      plain: (await call('GET', '/apis/g.example.com/v1')).status,
      aggregated: await call('GET', '/apis', undefined, aggregated),
      v2: await call('GET', '/openapi/v2'),
      hash: hashes['apis/g.example.com/v1']?.serverRelativeURL,
      core: hashes['api/v1']?.serverRelativeURL,
      document: await call('GET', document),
    }
  }
  const before = await look()
  expect(before).toMatchObject({ plain: 404, hash: undefined, document: { status: 404 } })

  await call('POST', definitionsPath, definition(['v1'], { a: { type: 'string' } }))
  const made = await look()
  expect(made).toMatchObject({ plain: 200, core: before.core, document: { status: 200 } })
  expect(made.aggregated.etag).not.toBe(before.aggregated.etag)
  expect(made.aggregated.text).toContain('"widgets"')
  expect(made.v2.etag).not.toBe(before.v2.etag)
  expect(made.hash).toContain(made.document.etag.replaceAll('"', ''))

  const stored = JSON.parse((await call('GET', `${definitionsPath}/widgets.g.example.com`)).text) as { spec: object }
  const { spec } = definition(['v1', 'v2'], { b: { type: 'string' } }) as { spec: object }
  expect(
    (await call('PUT', `${definitionsPath}/widgets.g.example.com`, { ...stored, spec: { ...stored.spec, ...spec } })).status,
  ).toBe(200)
  const changed = await look()
  expect(changed.document.text).toContain('"b"')
  expect(changed.hash).not.toBe(made.hash)
  expect(changed.core).toBe(before.core)
  expect(changed.aggregated.etag).not.toBe(made.aggregated.etag)
  expect((await call('GET', '/apis/g.example.com/v2')).status).toBe(200)

  await call('DELETE', `${definitionsPath}/widgets.g.example.com`)
  const gone = await look()
  expect(gone).toMatchObject({ plain: 404, hash: undefined, document: { status: 404 } })
  expect(gone.aggregated.etag).toBe(before.aggregated.etag)
})
