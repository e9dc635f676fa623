import type { RandomChoices } from '@krmkit/base/random-choices'
import type { WireClient } from '../harness/client.ts'
import { type Family, sendMeasured, type WireAttack, watchingHeap } from '../harness/family.ts'
import { startTarget } from '../harness/target.ts'

/** Selectors of many terms, and every rendering, over a collection of many objects. */

const collection = '/api/v1/namespaces/default/configmaps'
const clusterWide = '/api/v1/configmaps'
const json = { 'content-type': 'application/json' }

/** Creates `count` objects with a few labels each, with several concurrent requests. */
export async function fill(admin: WireClient, count: number): Promise<void> {
  let next = 0
  const work = async () => {
    for (let i = next++; i < count; i = next++) {
      const metadata = {
        name: `m${i}`,
        labels: { app: `a${i % 100}`, tier: 'web', index: String(i) },
        annotations: { note: `n${i}` },
      }
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'x'.repeat(100) } })
      const { status, text } = await admin.send({ method: 'POST', target: collection, headers: json, body })
      if (status !== 201) throw new Error(`an object of the collection is answered with ${status}: ${text.slice(0, 200)}`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
}

const terms = (count: number, make: (index: number) => string, between = ','): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(between)

/** Label selectors, by their repeated part. `n`: number of terms. */
const labelSelectors: Readonly<Record<string, (n: number) => string>> = {
  'terms of != over many keys': (n) => terms(n, (i) => `k${i}!=v`),
  'terms of != over one key': (n) => terms(n, (i) => `app!=v${i}`),
  'terms of = over one key': (n) => terms(n, () => 'tier=web'),
  'terms of existence': (n) => terms(n, () => 'app'),
  'terms of absence': (n) => terms(n, (i) => `!k${i}`),
  'terms of notin': (n) => terms(n, (i) => `app notin (v${i},w${i})`),
  'terms of in': (n) => terms(n, () => 'tier in (web,app)'),
  'values of one notin': (n) => `app notin (${terms(n, (i) => `v${i}`)})`,
  'values of one in': (n) => `app in (${terms(n, (i) => `v${i}`)})`,
  'equal values of one in': (n) => `app in (${terms(n, () => 'v')})`,
  'numbers compared': (n) => terms(n, (i) => `index>${i % 10},index<9${i}`),
  'long values': (n) => terms(Math.ceil(n / 100), () => `app!=${'v'.repeat(500)}`),
  'bad terms': (n) => terms(n, () => 'a=!b'),
  'open brackets': (n) => `app in ${'('.repeat(n)}`,
  commas: (n) => ','.repeat(n),
  spaces: (n) => `app${' '.repeat(n)}=a1`,
}

const fieldSelectors: Readonly<Record<string, (n: number) => string>> = {
  'field terms of != over one field': (n) => terms(n, (i) => `metadata.name!=v${i}`),
  'field terms of = over one field': (n) => terms(n, () => 'metadata.namespace=default'),
  'field terms over unknown fields': (n) => terms(n, (i) => `spec.f${i}=v`),
  'a long field value': (n) => `metadata.name!=${'v'.repeat(n * 5)}`,
  'escaped field values': (n) => `metadata.name!=${'\\,'.repeat(n)}`,
}

const uses: Readonly<Record<string, (query: string) => WireAttack['wire']>> = {
  list: (query) => ({ method: 'GET', target: `${collection}?${query}` }),
  'list of all namespaces': (query) => ({ method: 'GET', target: `${clusterWide}?${query}&limit=5` }),
  watch: (query) => ({ method: 'GET', target: `${collection}?watch=1&timeoutSeconds=1&${query}` }),
  'dry run of deletecollection': (query) => ({ method: 'DELETE', target: `${collection}?dryRun=All&${query}` }),
}

function* selectorAttacks(random: RandomChoices, size: 'short' | 'full'): Generator<WireAttack> {
  // A request line of 1 MiB contains about as many.
  const counts = size === 'full' ? [400, 5000, 60_000] : [400, 5000]
  const all = [
    ...Object.entries(labelSelectors).map(([name, make]) => ({ name, parameter: 'labelSelector', make })),
    ...Object.entries(fieldSelectors).map(([name, make]) => ({ name, parameter: 'fieldSelector', make })),
  ]
  for (const { name, parameter, make } of all) {
    for (const count of counts) {
      for (const [use, wire] of Object.entries(uses)) {
        if (size === 'short' && !random.chance(15)) continue
        const query = `${parameter}=${encodeURIComponent(make(count))}`
        if (query.length > 1_000_000) continue
        yield { name: `${use} with ${count} ${name}`, wire: wire(query) }
      }
    }
  }
}

const table = 'application/json;as=Table;g=meta.k8s.io;v=v1'

const renderings: Readonly<Record<string, WireAttack['wire']>> = {
  JSON: { method: 'GET', target: collection },
  'pretty JSON': { method: 'GET', target: `${collection}?pretty=true` },
  YAML: { method: 'GET', target: collection, headers: { accept: 'application/yaml' } },
  protobuf: { method: 'GET', target: collection, headers: { accept: 'application/vnd.kubernetes.protobuf' } },
  'a Table': { method: 'GET', target: collection, headers: { accept: table } },
  'a Table of whole objects': { method: 'GET', target: `${collection}?includeObject=Object`, headers: { accept: table } },
  'a Table in YAML': { method: 'GET', target: collection, headers: { accept: 'application/yaml;as=Table;g=meta.k8s.io;v=v1' } },
  'a Table in protobuf': {
    method: 'GET',
    target: collection,
    headers: { accept: 'application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1' },
  },
  'partial metadata': {
    method: 'GET',
    target: collection,
    headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
  },
  'partial metadata in protobuf': {
    method: 'GET',
    target: collection,
    headers: { accept: 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
  },
  gzip: { method: 'GET', target: collection, headers: { 'accept-encoding': 'gzip' } },
  'pages of 500': { method: 'GET', target: `${collection}?limit=500` },
  'a page of all but one': { method: 'GET', target: `${collection}?limit=9999` },
  'a streamed list': {
    method: 'GET',
    target: `${collection}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1&allowWatchBookmarks=true`,
  },
  'watched Table rows': {
    method: 'GET',
    target: `${collection}?watch=1&resourceVersion=0&timeoutSeconds=1`,
    headers: { accept: table },
  },
  'watched YAML': {
    method: 'GET',
    target: `${collection}?watch=1&resourceVersion=0&timeoutSeconds=1`,
    headers: { accept: 'application/yaml' },
  },
  'dry run of deletecollection': { method: 'DELETE', target: `${collection}?dryRun=All` },
  'dry run of deletecollection with preconditions': {
    method: 'DELETE',
    target: `${collection}?dryRun=All`,
    headers: json,
    body: JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground' }),
  },
}

const counts = { short: 500, full: 10_000 } as const

export const selectors: Family = {
  name: 'selectors',
  purpose: 'selectors of many terms over many objects hold up no other request',
  async run(context) {
    await using target = await startTarget({ prepare: (admin) => fill(admin, counts[context.size]) })
    await watchingHeap(target, context, () => sendMeasured(target, selectorAttacks(context.random, context.size), context))
  },
}

export const listRenderings: Family = {
  name: 'renderings',
  purpose: 'no form of a large list holds up other requests',
  async run(context) {
    await using target = await startTarget({ prepare: (admin) => fill(admin, counts[context.size]) })
    const attacks = Object.entries(renderings).map(([name, wire]) => ({
      name: `list of ${counts[context.size]} objects: ${name}`,
      wire,
    }))
    // The first request of each form fills caches for later ones; both are measured, and the second ones may keep nothing more.
    await sendMeasured(target, attacks, context)
    await watchingHeap(target, context, () => sendMeasured(target, attacks, context))
  },
}
