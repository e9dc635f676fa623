import { fakeClock } from '@krmkit/meta'
import { memoryStorage, type Storage } from '@krmkit/storage'
import { afterEach, expect, it } from 'vitest'
import { definitionsPath, widgetDefinition } from '../custom-resources/testing/widgets.ts'
import { createApiServer, type EmbeddedServer } from './server.ts'

/** Two servers over one storage, of which one is a replica. */

const servers: EmbeddedServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

const clock = fakeClock(Date.UTC(2025, 0, 2))
const aggregation = { transport: { open: () => ({ send: () => Promise.reject(new Error('none')), close: () => undefined }) } }

async function start(storage: Storage, replica: boolean) {
  const server = await createApiServer({ storage, clock, replica, aggregation, bootstrapRoles: true })
  servers.push(server)
  return async (method: string, path: string, given?: unknown) => {
    const response = await server.handle({
      method,
      path,
      query: '',
      headers: { 'content-type': 'application/json' },
      body: async () => new TextEncoder().encode(given === undefined ? '' : JSON.stringify(given)),
      peer: {},
      signal: new AbortController().signal,
    })
    return response.status
  }
}

it('a replica writes nothing when it starts', async () => {
  const storage = memoryStorage({ clock })
  await start(storage, true)
  expect(storage.revision).toBe(1)
})

it('a replica serves a definition, its changes and its end with the next request', async () => {
  const storage = memoryStorage({ clock })
  const writer = await start(storage, false)
  const replica = await start(storage, true)
  const name = 'widgets.g.example.com'
  const items = '/apis/g.example.com/v1/widgets'
  const schema = { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string' } } } }
  const definition = widgetDefinition([{ name: 'v1', schema }])
  expect(await replica('GET', items)).toBe(404)
  expect(await writer('POST', definitionsPath, definition)).toBe(201)
  while (
    !new TextDecoder()
      .decode(storage.peek(`/apiextensions.k8s.io/customresourcedefinitions/${name}`)?.value)
      .includes('"Established"')
  )
    await new Promise((resolve) => setImmediate(resolve))
  expect(await replica('GET', items)).toBe(200)
  expect(await writer('DELETE', `${definitionsPath}/${name}`)).toBe(200)
  while (storage.peek(`/apiextensions.k8s.io/customresourcedefinitions/${name}`) !== undefined)
    await new Promise((resolve) => setImmediate(resolve))
  expect(await replica('GET', items)).toBe(404)
})

it('a replica accepts a definition, which the other server establishes', async () => {
  const storage = memoryStorage({ clock })
  const writer = await start(storage, false)
  const replica = await start(storage, true)
  const definition = widgetDefinition([{ name: 'v1', schema: { openAPIV3Schema: { type: 'object' } } }])
  expect(await replica('POST', definitionsPath, definition)).toBe(201)
  await expect.poll(() => writer('GET', '/apis/g.example.com/v1/widgets')).toBe(200)
  expect(await replica('GET', '/apis/g.example.com/v1/widgets')).toBe(200)
})
