import type { WireClient } from '../harness/client.ts'
import { type Family, sendMeasured, type WireAttack, watchingHeap } from '../harness/family.ts'
import { startTarget, store } from '../harness/target.ts'

/** Maps of many small members in every verb and encoding, and definitions of custom resources whose validation is expensive. */

export const core = '/api/v1/namespaces/default'
export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export const members = (count: number, make: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, make(i)]))
const configMap = (name: string, rest: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...rest })

/** Parts of config map `name` with `n` members in one map. */
const maps: Readonly<Record<string, (name: string, n: number) => object>> = {
  data: (name, n) => configMap(name, { data: members(n, () => 'v') }),
  labels: (name, n) => configMap(name, { metadata: { name, labels: members(n, () => 'v') } }),
  'bad keys': (name, n) => configMap(name, { data: Object.fromEntries(Array.from({ length: n }, (_, i) => [`/${i}`, ''])) }),
  'unknown members': (name, n) =>
    configMap(
      name,
      members(n, () => 1),
    ),
}

export const mediaTypes = {
  merge: 'application/merge-patch+json',
  'strategic merge': 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

function* mapAttacks(n: number): Generator<WireAttack> {
  for (const [part, make] of Object.entries(maps)) {
    const send = (verb: string, method: string, target: string, type: string, name: string): WireAttack => ({
      name: `${verb} of ${n} ${part}`,
      wire: {
        method,
        target: `${core}/configmaps${target}`,
        headers: { 'content-type': type },
        body: JSON.stringify(make(name, n)),
      },
    })
    yield send('create', 'POST', '?dryRun=All', 'application/json', 'new')
    yield send('update', 'PUT', '/a?dryRun=All', 'application/json', 'a')
    yield send('merge', 'PATCH', '/a?dryRun=All', mediaTypes.merge, 'a')
    yield send('strategic merge', 'PATCH', '/a?dryRun=All', mediaTypes['strategic merge'], 'a')
    yield send('apply', 'PATCH', '/new?dryRun=All&fieldManager=m', mediaTypes.apply, 'new')
  }
  for (const [verb, type] of Object.entries(mediaTypes)) {
    if (verb === 'apply') continue
    yield {
      name: `${verb} of one member into ${n}`,
      wire: {
        method: 'PATCH',
        target: `${core}/configmaps/wide`,
        headers: { 'content-type': type },
        body: JSON.stringify({ data: { k1: verb } }),
      },
    }
  }
}

type Schema = Readonly<Record<string, unknown>>
const object = (properties: object): Schema => ({ type: 'object', properties })

/** Schemas, by what makes them expensive. `n`: number of parts. */
export const schemas: Readonly<Record<string, (n: number) => Schema>> = {
  properties: (n) => object(members(n, () => ({ type: 'string' }))),
  'properties without types': (n) => object(members(n, () => ({}))),
  patterns: (n) => object(members(n / 2, (i) => ({ type: 'string', pattern: `^a${i}[a-z]+(b|c)*$` }))),
  'counted patterns': (n) => object(members(n / 15, (i) => ({ type: 'string', pattern: `((a{1,30}){1,30})${i}` }))),
  rules: (n) =>
    object(
      members(n / 6, (i) => ({ type: 'string', maxLength: 5, 'x-kubernetes-validations': [{ rule: `self.size() < ${i + 1}` }] })),
    ),
  alternatives: (n) =>
    object({
      a: {
        ...object({ b: { type: 'string' } }),
        anyOf: Array.from({ length: n }, () => ({ properties: { b: { pattern: 'a' } } })),
      },
    }),
  'members of a default': (n) =>
    object({ a: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, default: members(n * 2, () => 'v') } }),
  'values of an enum': (n) => object({ a: { type: 'string', enum: Array.from({ length: n * 3 }, (_, i) => `e${i}`) } }),
}

export const definitionOf = (plural: string, openAPIV3Schema: Schema) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.g.example.com` },
  spec: {
    group: 'g.example.com',
    scope: 'Namespaced',
    names: { plural, kind: plural },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
  },
})

function* definitionAttacks(n: number): Generator<WireAttack> {
  for (const [what, make] of Object.entries(schemas)) {
    yield {
      name: `definition of ${n} ${what}`,
      wire: {
        method: 'POST',
        target: `${definitions}?dryRun=All`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(definitionOf('wides', make(n))),
      },
    }
  }
}

function prepare(admin: WireClient): Promise<void> {
  const ofSize = (name: string, count: number) => ({
    collection: `${core}/configmaps`,
    object: { metadata: { name }, data: members(count, () => 'v') },
  })
  return store(admin, [ofSize('a', 1), ofSize('wide', 100_000)])
}

export const wideObjects: Family = {
  name: 'wide objects',
  purpose: 'maps of many members and large definitions hold up no other request',
  async run(context) {
    const isFull = context.size === 'full'
    await using target = await startTarget({ prepare })
    await watchingHeap(target, context, async () => {
      await sendMeasured(target, mapAttacks(isFull ? 100_000 : 30_000), context)
      await sendMeasured(target, definitionAttacks(isFull ? 30_000 : 7_500), context)
    })
  },
}
