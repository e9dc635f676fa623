import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { gzipSync } from 'node:zlib'
import type { RandomChoices } from '@krmkit/base/random-choices'
import type { WireClient } from '../harness/client.ts'
import { type AttackContext, type Family, sendMeasured, threaded, type WireAttack } from '../harness/family.ts'
import { startTarget } from '../harness/target.ts'
import { definitions } from './wide-objects.ts'

/** Work that one caller causes by a small request: pages of a pod, expressions of a policy, definitions with thousands of properties. */

const core = '/api/v1/namespaces/default'
const json = { 'content-type': 'application/json' }
const policies = '/apis/admissionregistration.k8s.io/v1'
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))

/** Parts of which a page consists without end. */
const pageParts: readonly ((random: RandomChoices) => string)[] = [
  () => '<a href=/a>',
  () => '<a href="/x/y?z=1&amp;w=2">text</a>',
  () => '<',
  () => '<!--',
  () => '-->',
  () => '<script>',
  () => '</script>',
  () => 'text ',
  (random) => `<a ${'b=c '.repeat(random.below(15_000))} href="/x">`,
  (random) => `<img src="/${'&#47;'.repeat(random.below(12_000))}">`,
  (random) => `<form action="/${'x/../'.repeat(random.below(12_000))}">`,
  (random) => `<q cite="/${'%2e/'.repeat(random.below(15_000))}">`,
  (random) => `<p title="${'<'.repeat(random.below(60_000))}">`,
]

interface Page {
  readonly body: Buffer
  readonly coding: string
}

function pageOf(random: RandomChoices, bytes: number): Page {
  const parts = times(1 + random.below(3), () => random.pick(pageParts)(random))
  const unit = parts.join('')
  const text = unit.repeat(Math.ceil(bytes / unit.length))
  const coding = random.chance(50) ? 'gzip' : ''
  return { body: coding === '' ? Buffer.from(text, 'latin1') : gzipSync(text), coding }
}

/** An address of the machine that the proxy verb may reach. */
function reachableAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  return all.find(({ internal, family, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))?.address
}

async function* proxiedPages(admin: WireClient, { random, size }: AttackContext): AsyncGenerator<WireAttack> {
  const ip = reachableAddress()
  if (ip === undefined) return
  let page: Page
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', ...(page.coding === '' ? {} : { 'content-encoding': page.coding }) })
    response.end(page.body)
  })
  await new Promise<void>((resolve) => server.listen(0, ip, resolve))
  const { port } = server.address() as AddressInfo
  const headers = { 'content-type': 'application/merge-patch+json' }
  const body = JSON.stringify({ status: { podIP: ip, podIPs: [{ ip }] } })
  await admin.send({ method: 'PATCH', target: `${core}/pods/p/status`, headers, body })
  try {
    for (let i = 0; i < (size === 'full' ? 40 : 4); i++) {
      page = pageOf(random, size === 'full' ? 8_000_000 : 1_000_000)
      const target = `${core}/pods/p:${port}/proxy/page`
      yield { name: `page ${i}: ${page.body.length} bytes ${page.coding}`, wire: { method: 'GET', target } }
    }
  } finally {
    server.close()
  }
}

/** Expressions over the values of a ConfigMap, which is large. */
const expressions: readonly string[] = [
  "object.data.all(k, object.data[k].findAll('a+b?').size() >= 0)",
  "object.data.all(k, object.data[k].findAll('(a|b)*c').all(x, x.size() >= 0))",
  "object.data.exists_one(k, object.data[k].contains('zz'))",
  "object.data.all(k, object.data[k].split('a').size() >= 0)",
  "object.data.all(k, object.data[k].split('a').all(x, x.size() >= 0))",
  "object.data.all(k, object.data[k].replace('a', 'bb').size() >= 0)",
  'object.data.all(k, !isURL(object.data[k]) || url(object.data[k]).getHost().size() >= 0)',
  "object.data.all(k, object.data[k].matches('^(a+)+$') || true)",
  "object.data.all(k, object.data[k].upperAscii().lowerAscii().contains('x') || true)",
  'object.data.map(k, object.data[k]).map(v, v.reverse()).all(v, v.size() >= 0)',
  "object.data.map(k, object.data[k]).join(',').split(',').all(v, v.size() >= 0)",
  'object.data.all(k, object.data.all(l, k.size() + l.size() >= 0))',
]

const values: readonly ((random: RandomChoices) => Readonly<Record<string, string>>)[] = [
  () => ({ a: 'ab'.repeat(450_000) }),
  () => ({ a: 'a'.repeat(900_000) }),
  () => ({ a: `https://example.com/${'a/'.repeat(400_000)}` }),
  () => Object.fromEntries(times(20_000, (i) => [`k${i}`, 'aab'.repeat(5)])),
  (random) => Object.fromEntries(times(1 + random.below(300), (i) => [`k${i}`, 'abc,'.repeat(700)])),
]

async function* policyExpressions(admin: WireClient, { random, size }: AttackContext): AsyncGenerator<WireAttack> {
  const binding = { metadata: { name: 'long' }, spec: { policyName: 'long', validationActions: ['Deny'] } }
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }
  for (let i = 0; i < (size === 'full' ? 40 : 3); i++) {
    const chosen = times(1 + random.below(30), () => ({ expression: random.pick(expressions) }))
    const matchConstraints = { resourceRules: [rule] }
    const policy = { metadata: { name: 'long' }, spec: { failurePolicy: 'Ignore', matchConstraints, validations: chosen } }
    for (const [resource, object] of [
      ['validatingadmissionpolicies', policy],
      ['validatingadmissionpolicybindings', binding],
    ] as const) {
      await admin.send({ method: 'DELETE', target: `${policies}/${resource}/long` })
      await admin.send({ method: 'POST', target: `${policies}/${resource}`, headers: json, body: JSON.stringify(object) })
    }
    // Policies are observed a moment later.
    await new Promise((resolve) => setTimeout(resolve, 300))
    const body = JSON.stringify({ metadata: { name: `judged-${i}` }, data: random.pick(values)(random) })
    const name = `${chosen.length} expressions, first ${chosen[0]?.expression}, ${body.length} bytes`
    yield { name, wire: { method: 'POST', target: `${core}/configmaps?dryRun=All`, headers: json, body } }
  }
  for (const resource of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'])
    await admin.send({ method: 'DELETE', target: `${policies}/${resource}/long` })
}

const propertySchemas: readonly ((index: number) => object)[] = [
  () => ({ type: 'string' }),
  (i) => ({ type: 'string', pattern: `^a{${i % 50}}$`, description: 'text '.repeat(5) }),
  () => ({ type: 'object', properties: { a: { type: 'integer', default: 1 }, b: { type: 'array', items: { type: 'string' } } } }),
  () => ({ type: 'object', additionalProperties: { type: 'integer' } }),
  () => ({ type: 'string', enum: ['a', 'b', 'c'], default: 'a' }),
]

async function* wideDefinitions(_: WireClient, { random, size }: AttackContext): AsyncGenerator<WireAttack> {
  for (let i = 0; i < (size === 'full' ? 12 : 2); i++) {
    const count = size === 'full' ? 2000 + random.below(18_000) : 1000
    const schemas = times(1 + random.below(3), () => random.pick(propertySchemas))
    const properties = Object.fromEntries(times(count, (at) => [`p${at}`, schemas[at % schemas.length]?.(at)]))
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } }
    const names = { plural: `turns${i}`, singular: `turn${i}`, kind: `Turn${i}` }
    const spec = {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    }
    const body = JSON.stringify({ metadata: { name: `turns${i}.example.com` }, spec })
    yield { name: `a definition of ${count} properties`, wire: { method: 'POST', target: definitions, headers: json, body } }
    for (const target of ['/openapi/v2', '/openapi/v3', '/openapi/v3/apis/example.com/v1', '/apis/example.com/v1'])
      yield { name: `${target} with ${i + 1} definitions`, wire: { method: 'GET', target } }
    const object = { apiVersion: 'example.com/v1', kind: names.kind, metadata: { name: 'a' }, spec: {} }
    const collection = `/apis/example.com/v1/namespaces/default/${names.plural}`
    yield { name: 'an object of it', wire: { method: 'POST', target: collection, headers: json, body: JSON.stringify(object) } }
  }
}

async function attack(context: AttackContext, flags: readonly string[]): Promise<void> {
  await using target = await startTarget({
    flags,
    timeoutMs: 60_000,
    async prepare(admin) {
      const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
      await admin.send({ method: 'POST', target: `${core}/pods`, headers: json, body: JSON.stringify(pod) })
    },
  })
  for (const generate of [proxiedPages, policyExpressions, wideDefinitions]) {
    for await (const sent of generate(target.admin(), context)) await sendMeasured(target, [sent], context)
  }
}

export const longTurns: Family = {
  name: 'long turns',
  purpose: 'pages, expressions and definitions that take long let others in between',
  run: (context) => threaded((flags) => attack(context, flags)),
}
