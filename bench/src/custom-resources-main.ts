/** Benchmarks custom resources in one process and prints the results as JSON. */
import { parseArgs } from 'node:util'
import { createApiServer } from '@krmkit/apiserver'
import { type Client, createInProcessClient, resourceType } from '@krmkit/client'
import { memoryStorage } from '@krmkit/storage'

const { values } = parseArgs({
  options: {
    definitions: { type: 'string', default: '500' },
    objects: { type: 'string', default: '2000' },
    aggregation: { type: 'boolean', default: false },
  },
})
const count = Number(values.definitions)
const objects = Number(values.objects)
const user = { username: 'bench', groups: ['system:masters', 'system:authenticated'] }
const aggregation = values.aggregation ? { aggregation: {} } : {}

const members = Array.from({ length: 40 }, (_, i) => `field${i}`)
const CustomResourceDefinition = resourceType({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
})
const ConfigMap = resourceType({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
const Wide = resourceType({ group: 'g0.bench.example.com', version: 'v1', resource: 'wides', kind: 'Wide' })

function definition(group: string, plural: string, kind: string): object {
  const properties = Object.fromEntries(
    members.map((name, i) => [name, { type: 'string', description: `The ${i}th of many.`, maxLength: 200 }]),
  )
  const schema = { type: 'object', properties: { spec: { type: 'object', properties }, status: { type: 'object', properties } } }
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } }
  return {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind }, versions: [version] },
  }
}

const storage = memoryStorage()
const first = await createApiServer({ storage, ...aggregation })
const client = createInProcessClient(first, { user })
const since = (start: number) => performance.now() - start

const heapBefore = used()
let start = performance.now()
const cpu = process.cpuUsage()
for (let i = 0; i < count; i++) {
  const [plural, kind] = i === 0 ? ['wides', 'Wide'] : [`things${i}`, `Thing${i}`]
  await client.create(CustomResourceDefinition, definition(`g${i % 50}.bench.example.com`, plural, kind) as never)
}
const accepted = since(start)
await served(client, count)
const installMs = since(start)
const spent = process.cpuUsage(cpu)
const installCpuMs = (spent.user + spent.system) / 1000
const heapMiB = used() - heapBefore
start = performance.now()
await client.request({
  path: '/apis',
  headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
})
const discoveryMs = since(start)
const rssMiB = process.memoryUsage().rss / 2 ** 20
start = performance.now()
await (await client.request({ path: '/openapi/v3' })).bytes()
const openapiIndexMs = since(start)
start = performance.now()
await (await client.request({ path: '/openapi/v3/apis/g1.bench.example.com/v1' })).bytes()
const openapiGroupMs = since(start)

const follows = await follow(client)
const custom = await creates(client, Wide, (i) => ({
  metadata: { name: `a-${i < 0 ? `w${-i}` : i}`, namespace: 'default' },
  spec: content(i),
}))
const configMaps = await creates(client, ConfigMap, (i) => ({
  metadata: { name: `a-${i < 0 ? `w${-i}` : i}`, namespace: 'default' },
  data: content(i),
}))

start = performance.now()
const second = await createApiServer({ storage, ...aggregation })
const startMs = since(start)
await second.close()
await first.close().catch(() => undefined)
process.stdout.write(
  `${JSON.stringify({ count, accepted, installMs, installCpuMs, heapMiB, rssMiB, discoveryMs, openapiIndexMs, openapiGroupMs, follows, custom, configMaps, startMs })}\n`,
)

function content(i: number): Record<string, string> {
  return Object.fromEntries(members.map((name) => [name, `value ${i} of ${name}`]))
}

function used(): number {
  ;(globalThis as { gc?: () => void }).gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}

/** Waits until the last definition is served. */
async function served(asking: Client, wanted: number): Promise<void> {
  const plural = wanted === 1 ? 'wides' : `things${wanted - 1}`
  const path = `/apis/g${(wanted - 1) % 50}.bench.example.com/v1/${plural}`
  while ((await asking.request({ path })).status !== 200) await new Promise((resolve) => setImmediate(resolve))
}

/** Milliseconds from the response to a created, changed or deleted definition until discovery documents reflect it. */
async function follow(asking: Client): Promise<Record<string, number>> {
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const found: Record<string, number> = {}
  for (const [document, path, accept] of [
    ['group', '/apis/late.example.com/v1', 'application/json'],
    ['aggregated', '/apis', aggregated],
    ['openapi', '/openapi/v3', 'application/json'],
  ] as const) {
    const text = async () => new TextDecoder().decode(await (await asking.request({ path, headers: { accept } })).bytes())
    const until = async (holds: (text: string) => boolean): Promise<number> => {
      const begin = performance.now()
      while (!holds(await text())) await new Promise((resolve) => setImmediate(resolve))
      return since(begin)
    }
    const late = definition('late.example.com', 'lates', 'Late') as { metadata: { name: string }; spec: { names: object } }
    const { name } = late.metadata
    const expected = document === 'openapi' ? 'late.example.com/v1' : '"lates"'
    await asking.create(CustomResourceDefinition, late as never)
    found[`${document}Made`] = await until((now) => now.includes(expected))
    const before = await text()
    const spec = { names: { ...late.spec.names, shortNames: ['lt'] }, versions: [changed(late)] }
    await asking.patch(CustomResourceDefinition, name, { type: 'merge', patch: { spec } as never })
    found[`${document}Changed`] = await until((now) => now !== before)
    await asking.delete(CustomResourceDefinition, name)
    found[`${document}Removed`] = await until((now) => !now.includes(expected))
    while ((await asking.request({ path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}` })).status !== 404)
      await new Promise((resolve) => setImmediate(resolve))
  }
  return found
}

/** The version with an additional member. */
function changed({ spec }: object & { spec: object }): object {
  const [version] = structuredClone((spec as { versions: { schema: { openAPIV3Schema: { properties: object } } }[] }).versions)
  Object.assign(version?.schema.openAPIV3Schema.properties ?? {}, { more: { type: 'string' } })
  return version ?? {}
}

/** Objects per second. */
async function creates(asking: Client, type: typeof Wide, body: (i: number) => object): Promise<number> {
  for (let i = 0; i < 200; i++) await asking.create(type, body(-1 - i) as never)
  const begin = performance.now()
  for (let i = 0; i < objects; i++) await asking.create(type, body(i) as never)
  return objects / (since(begin) / 1000)
}
