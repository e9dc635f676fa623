import type { RandomChoices } from '@krmkit/base/random-choices'
import type { WireClient } from '../harness/client.ts'
import { type Family, sendMeasured, type WireAttack, watchingHeap } from '../harness/family.ts'
import { startTarget } from '../harness/target.ts'

/** Patches of every type that are small to send and expensive to apply. */

const core = '/api/v1/namespaces/default'
const apps = '/apis/apps/v1/namespaces/default'
const types = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const members = (count: number, make: (index: number) => readonly [string, unknown]) => Object.fromEntries(times(count, make))

const inContainer = (container: object) => ({ spec: { template: { spec: { containers: [{ name: 'c', ...container }] } } } })

/** Strategic merge patches of deployment `d`, whose container has many variables. `n`: elements. */
const strategic: Readonly<Record<string, (n: number) => object>> = {
  'new variables': (n) => inContainer({ env: times(n, (i) => ({ name: `N${i}`, value: 'v' })) }),
  'changed variables': (n) => inContainer({ env: times(n, (i) => ({ name: `E${i % 4000}`, value: 'w' })) }),
  'equal variables': (n) => inContainer({ env: times(n, () => ({ name: 'E1', value: 'w' })) }),
  'deleted variables': (n) => inContainer({ env: times(n, (i) => ({ name: `E${i}`, $patch: 'delete' })) }),
  'an order of variables': (n) => inContainer({ '$setElementOrder/env': times(n, (i) => ({ name: `E${i}` })) }),
  'a reversed order and variables': (n) =>
    inContainer({
      '$setElementOrder/env': times(n, (i) => ({ name: `E${n - i}` })),
      env: times(n, (i) => ({ name: `E${n - i}`, value: 'z' })),
    }),
  'deleted finalizers': (n) => ({ metadata: { '$deleteFromPrimitiveList/finalizers': times(n, (i) => `example.com/${i}`) } }),
  'an order of finalizers': (n) => ({
    metadata: {
      '$setElementOrder/finalizers': times(n, (i) => `example.com/${i}`),
      finalizers: times(n, (i) => `example.com/${n - i}`),
    },
  }),
  'retained keys': (n) => ({ spec: { strategy: { $retainKeys: times(n, (i) => `k${i}`) } } }),
  'new containers': (n) => ({ spec: { template: { spec: { containers: times(n, (i) => ({ name: `c${i}`, image: 'i' })) } } } }),
  'containers without a key': (n) => ({ spec: { template: { spec: { containers: times(n, () => ({ image: 'i' })) } } } }),
  'ports of two keys': (n) =>
    inContainer({ ports: times(n, (i) => ({ containerPort: (i % 65_000) + 1, protocol: i % 2 === 0 ? 'TCP' : 'UDP' })) }),
  labels: (n) => ({ metadata: { labels: members(n, (i) => [`k${i}`, 'v']) } }),
  'labels set to null': (n) => ({ metadata: { labels: members(n, (i) => [`k${i}`, null]) } }),
}

/** JSON patches of config map `a`, whose annotations and finalizers are long. `n`: operations. */
const operations: Readonly<Record<string, (n: number) => readonly object[]>> = {
  'adds at the front': (n) => times(n, (i) => ({ op: 'add', path: '/metadata/finalizers/0', value: `example.com/n${i}` })),
  'adds at the end': (n) => times(n, (i) => ({ op: 'add', path: '/metadata/finalizers/-', value: `example.com/n${i}` })),
  'moves from end to front': (n) =>
    times(n, () => ({ op: 'move', from: '/metadata/finalizers/1999', path: '/metadata/finalizers/0' })),
  'moves from front to end': (n) =>
    times(n, () => ({ op: 'move', from: '/metadata/finalizers/0', path: '/metadata/finalizers/1999' })),
  'copies of the list': (n) => times(n, (i) => ({ op: 'copy', from: '/metadata/finalizers', path: `/x${i}` })),
  'copies that double': (n) => [
    { op: 'add', path: '/x', value: { a: 'x' } },
    ...times(Math.min(n, 40), (i) => ({ op: 'copy', from: '/x', path: `/x/${i}` })),
  ],
  'copies that double to the limit': (n) => [
    { op: 'add', path: '/x', value: { a: 'x' } },
    ...times(Math.min(n, 1000), (i) => ({ op: 'copy', from: '/x', path: `/x/${i}` })),
  ],
  'removals at the front': (n) => times(Math.min(n, 1999), () => ({ op: 'remove', path: '/metadata/finalizers/0' })),
  tests: (n) => times(n, () => ({ op: 'test', path: '/metadata/finalizers', value: times(50, String) })),
  'new members': (n) => times(n, (i) => ({ op: 'add', path: `/data/k${i}`, value: 'v' })),
  'members of a deep path': (n) => times(n, (i) => ({ op: 'add', path: `/data${'/a'.repeat(50)}/${i}`, value: 'v' })),
  'escaped members': (n) => times(n, (i) => ({ op: 'add', path: `/metadata/annotations/${'~1~0'.repeat(20)}${i}`, value: 'v' })),
  'members of the prototype': (n) => times(n, () => ({ op: 'add', path: '/data/__proto__', value: 'v' })),
}

const merges: Readonly<Record<string, (n: number) => string>> = {
  'new keys': (n) => JSON.stringify({ data: members(n, (i) => [`k${i}`, 'v']) }),
  'removed keys': (n) => JSON.stringify({ data: members(n, (i) => [`k${i}`, null]) }),
  'deep objects': (n) => `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`,
  'deep annotations': (n) => `{"metadata":{"annotations":${'{"a":'.repeat(n)}1${'}'.repeat(n)}}}`,
  'a long list': (n) => JSON.stringify({ metadata: { finalizers: times(n, (i) => `example.com/${i}`) } }),
}

const applies: Readonly<Record<string, (n: number) => object>> = {
  variables: (n) => ({ ...deployment('applied'), ...inTemplate({ env: times(n, (i) => ({ name: `A${i}`, value: 'v' })) }) }),
  'equal variables': (n) => ({ ...deployment('applied'), ...inTemplate({ env: times(n, () => ({ name: 'A', value: 'v' })) }) }),
  ports: (n) => ({ ...deployment('applied'), ...inTemplate({ ports: times(n, (i) => ({ containerPort: i + 1 })) }) }),
  'keys of data': (n) => ({ ...configMap('applied'), data: members(n, (i) => [`k${i}`, 'v']) }),
  'labels and annotations': (n) => ({
    ...configMap('applied'),
    metadata: { name: 'applied', labels: members(n, (i) => [`k${i}`, 'v']), annotations: members(n, (i) => [`k${i}`, 'v']) },
  }),
  finalizers: (n) => ({
    ...configMap('applied'),
    metadata: { name: 'applied', finalizers: times(n, (i) => `example.com/${i}`) },
  }),
}

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const deployment = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } })
const inTemplate = (container: object) => ({
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i', ...container }] } },
  },
})

function* patchAttacks(random: RandomChoices, size: 'short' | 'full'): Generator<WireAttack> {
  const chosen = () => size === 'full' || random.chance(30)
  const patch = (target: string, type: string, body: string) => ({
    method: 'PATCH',
    target,
    headers: { 'content-type': type },
    body,
  })
  for (const n of size === 'full' ? [5000, 20_000, 60_000] : [5000]) {
    for (const [name, make] of Object.entries(strategic))
      if (chosen())
        yield {
          name: `strategic merge of ${n} ${name}`,
          wire: patch(`${apps}/deployments/d?dryRun=All`, types.strategic, JSON.stringify(make(n))),
        }
    for (const [name, make] of Object.entries(merges))
      if (chosen()) yield { name: `merge of ${n} ${name}`, wire: patch(`${core}/configmaps/a?dryRun=All`, types.merge, make(n)) }
    for (const [name, make] of Object.entries(applies)) {
      const object = make(n) as { kind: string }
      const collection = object.kind === 'ConfigMap' ? `${core}/configmaps` : `${apps}/deployments`
      if (chosen())
        yield {
          name: `apply of ${n} ${name}`,
          wire: patch(`${collection}/applied?dryRun=All&fieldManager=m&force=true`, types.apply, JSON.stringify(object)),
        }
    }
  }
  for (const n of [1000, 10_000, 10_001])
    for (const [name, make] of Object.entries(operations))
      if (chosen())
        yield {
          name: `JSON patch of ${n} ${name}`,
          wire: patch(`${core}/configmaps/a?dryRun=All`, types.json, JSON.stringify(make(n))),
        }
  yield* manyManagers(size === 'full' ? 150 : 20)
}

/** The same object, applied by many managers, each owning its fields. */
function* manyManagers(count: number): Generator<WireAttack> {
  for (let i = 0; i < count; i++) {
    const body = JSON.stringify({ ...configMap('shared'), data: members(300, (k) => [`k${k + i}`, 'v']) })
    yield {
      name: `apply by manager ${i}`,
      wire: {
        method: 'PATCH',
        target: `${core}/configmaps/shared?fieldManager=m${i}&force=true`,
        headers: { 'content-type': types.apply },
        body,
      },
    }
  }
}

async function prepare(admin: WireClient): Promise<void> {
  const create = async (target: string, object: object) => {
    const headers = { 'content-type': 'application/json' }
    const { status, text } = await admin.send({ method: 'POST', target, headers, body: JSON.stringify(object) })
    if (status !== 201) throw new Error(`an object to patch is answered with ${status}: ${text.slice(0, 300)}`)
  }
  const env = times(4000, (i) => ({ name: `E${i}`, value: 'v' }))
  await create(`${apps}/deployments`, { ...deployment('d'), ...inTemplate({ env }) })
  const finalizers = times(2000, (i) => `example.com/f${i}`)
  await create(`${core}/configmaps`, {
    ...configMap('a'),
    metadata: { name: 'a', finalizers, annotations: { a: 'b' } },
    data: { a: 'b' },
  })
}

export const patches: Family = {
  name: 'patches',
  purpose: 'patches of every sort cost in proportion to their size, and hold up no other request',
  async run(context) {
    await using target = await startTarget({ prepare, timeoutMs: 40_000 })
    await watchingHeap(target, context, () => sendMeasured(target, patchAttacks(context.random, context.size), context))
  },
}
