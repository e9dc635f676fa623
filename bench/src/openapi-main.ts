/** Benchmarks OpenAPI documents in one process and prints the results as JSON. */
import { parseArgs } from 'node:util'
import { createApiServer } from '@krmkit/apiserver'
import { createInProcessClient, resourceType } from '@krmkit/client'
import { memoryStorage } from '@krmkit/storage'

const { values } = parseArgs({ options: { definitions: { type: 'string', default: '500' } } })
const definitions = Number(values.definitions)
const user = { username: 'bench', groups: ['system:masters', 'system:authenticated'] }
const groups = Math.min(50, definitions)
const CustomResourceDefinition = resourceType({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})

function definition(i: number, extra: string[] = []): object {
  const group = `g${i % 50}.bench.example.com`
  const names = { plural: `things${i}`, kind: `Thing${i}`, ...(extra.length === 0 ? {} : { shortNames: extra }) }
  const members = [...Array.from({ length: 40 }, (_, at) => `field${at}`), ...extra]
  const properties = Object.fromEntries(
    members.map((name, at) => [name, { type: 'string', description: `The ${at}th of many.`, maxLength: 200 }]),
  )
  const schema = { type: 'object', properties: { spec: { type: 'object', properties }, status: { type: 'object', properties } } }
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } }
  return { metadata: { name: `${names.plural}.${group}` }, spec: { group, scope: 'Namespaced', names, versions: [version] } }
}

const server = await createApiServer({ storage: memoryStorage() })
const client = createInProcessClient(server, { user })
const since = (start: number) => performance.now() - start
const turn = () => new Promise((resolve) => setImmediate(resolve))

for (let i = 0; i < definitions; i++) await client.create(CustomResourceDefinition, definition(i) as never)
if (definitions > 0) await until(`/apis/g${(definitions - 1) % 50}.bench.example.com/v1/things${definitions - 1}`, () => true)

const protobuf = (version: string) => `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`
/** Milliseconds between turns of the event loop while a document is being generated. */
const turns: number[] = []
let waiting = false
let last = 0
const watch = () => {
  const now = performance.now()
  if (waiting) turns.push(now - last)
  last = now
  if (waiting) setImmediate(watch)
}
const before = used()
const indexMs = await timed('/openapi/v3')
const coreMs = await timed('/openapi/v3/api/v1')
const coreProtobufMs = await timed('/openapi/v3/api/v1', protobuf('v3'))
const custom = '/openapi/v3/apis/g0.bench.example.com/v1'
const customMs = definitions === 0 ? undefined : await timed(custom)
const { paths } = (await json('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> }
for (const { serverRelativeURL } of Object.values(paths)) await timed(serverRelativeURL)
const v3MiB = used() - before
const v2Ms = await timed('/openapi/v2')
const v2ProtobufMs = await timed('/openapi/v2', protobuf('v2'))
const v2MiB = used() - before - v3MiB
// Idle turns are not measured.
const busy = turns.filter((ms) => ms > 1).sort((a, b) => a - b)
const heldUpMs = busy.at(-1)
const mostlyMs = busy[Math.floor(busy.length * 0.9)]
const follow = definitions === 0 ? undefined : await change()
await server.close()
process.stdout.write(
  `${JSON.stringify({ definitions, groups, indexMs, coreMs, coreProtobufMs, customMs, v2Ms, v2ProtobufMs, heldUpMs, mostlyMs, v3MiB, v2MiB, follow })}\n`,
)

async function timed(path: string, accept = 'application/json'): Promise<number> {
  const start = performance.now()
  waiting = true
  last = start
  setImmediate(watch)
  const response = await client.request({ path, headers: { accept, 'accept-encoding': 'gzip' } })
  await response.bytes()
  waiting = false
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
  return since(start)
}

async function json(path: string): Promise<unknown> {
  return JSON.parse(
    new TextDecoder().decode(await (await client.request({ path, headers: { accept: 'application/json' } })).bytes()),
  )
}

async function until(path: string, holds: (text: string) => boolean): Promise<void> {
  for (;;) {
    const response = await client.request({ path, headers: { accept: 'application/json' } })
    const text = new TextDecoder().decode(await response.bytes())
    if (response.status === 200 && holds(text)) return
    await turn()
  }
}

/** Milliseconds from the response to a changed definition. */
async function change() {
  const name = 'things0.g0.bench.example.com'
  const hash = /"apis\/g0\.bench\.example\.com\/v1":\{"serverRelativeURL":"([^"]*)"/
  const text = async () => new TextDecoder().decode(await (await client.request({ path: '/openapi/v3' })).bytes())
  const old = hash.exec(await text())?.[1]
  await client.patch(CustomResourceDefinition, name, { type: 'merge', patch: definition(0, ['late']) as never })
  const start = performance.now()
  await until('/apis/g0.bench.example.com/v1', (found) => found.includes('"late"'))
  const discoveryMs = since(start)
  await until('/openapi/v3', (found) => hash.exec(found)?.[1] !== old)
  const indexMs = since(start)
  await until(custom, (found) => found.includes('"late"'))
  const documentMs = since(start)
  await until('/openapi/v2', (found) => found.includes('"late"'))
  return { discoveryMs, indexMs, documentMs, v2Ms: since(start) }
}

function used(): number {
  ;(globalThis as { gc?: () => void }).gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}
