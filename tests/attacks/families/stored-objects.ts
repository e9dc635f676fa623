import type { WireClient } from '../harness/client.ts'
import { type Family, sendMeasured, type WireAttack, watchingHeap } from '../harness/family.ts'
import { type ObjectToAttack, startTarget, store } from '../harness/target.ts'
import { core, definitionOf, definitions, mediaTypes, members, schemas } from './wide-objects.ts'

/** Changes of objects that are stored and have many members: both sides of each comparison are large. */

/** A large object of a kind, by collection and name. `change` makes the members that an update replaces. */
interface StoredObject extends ObjectToAttack {
  /** A merge patch of one member. */
  readonly change: object
}

const inDefault = (api: string) => `${api}/namespaces/default`

function* storedObjects(n: number): Generator<StoredObject> {
  const name = 'stored'
  const labels = { a: 'b', ...members(n, () => 'v') }
  const wide = (rest: object) => ({ metadata: { name }, ...rest })
  const selector = { matchLabels: { a: 'b' } }
  const containers = [{ name: 'c', image: 'i' }]
  const template = { metadata: { labels }, spec: { containers } }
  const changed = { k1: 'changed' }
  const inTemplate = { template: { metadata: { labels: changed } } }
  const once = { ...template, spec: { containers, restartPolicy: 'Never' } }
  const workload = (collection: string, spec: object, change: object = inTemplate): StoredObject => ({
    collection,
    object: wide({ spec }),
    change: { spec: change },
  })
  const apps = inDefault('/apis/apps/v1')
  const batch = inDefault('/apis/batch/v1')
  const secretData = members(n, () => 'eA==')
  yield { collection: `${core}/secrets`, object: wide({ data: secretData }), change: { data: { k1: 'eQ==' } } }
  yield { collection: `${core}/configmaps`, object: wide({ data: labels }), change: { data: changed } }
  yield { collection: '/api/v1/namespaces', object: { metadata: { name, labels } }, change: { metadata: { labels: changed } } }
  yield workload(`${core}/services`, { ports: [{ port: 80 }], selector: labels }, { selector: changed })
  yield workload(`${core}/pods`, { nodeSelector: labels, containers }, { containers: [{ name: 'c', image: 'changed' }] })
  yield { collection: `${core}/podtemplates`, object: wide({ template }), change: inTemplate }
  yield workload(`${apps}/deployments`, { selector, template })
  yield workload(`${apps}/replicasets`, { selector, template })
  yield workload(`${apps}/statefulsets`, { selector, serviceName: 's', template })
  yield workload(`${apps}/daemonsets`, { selector, template })
  yield workload(`${batch}/jobs`, { suspend: true, template: once })
  yield workload(
    `${batch}/cronjobs`,
    { schedule: '* * * * *', jobTemplate: { spec: { template: once } } },
    { schedule: '1 * * * *' },
  )
  const policies = inDefault('/apis/networking.k8s.io/v1')
  yield workload(
    `${policies}/networkpolicies`,
    { podSelector: { matchLabels: labels } },
    { podSelector: { matchLabels: changed } },
  )
  yield {
    collection: definitions,
    object: definitionOf('stored', schemas['properties']?.(n / 4) ?? {}),
    change: { spec: { names: { shortNames: ['changed'] } } },
  }
}

/** Every change of a stored object, and its deletion. */
function* storedAttacks(n: number): Generator<WireAttack> {
  for (const { collection, object, change } of storedObjects(n)) {
    const item = `${collection}/${object.metadata.name}`
    const what = item.slice(item.lastIndexOf('/', item.lastIndexOf('/') - 1) + 1)
    const send = (verb: string, method: string, query: string, type: string, body: unknown): WireAttack => ({
      name: `${verb} of ${what} with ${n} members`,
      wire: { method, target: item + query, headers: { 'content-type': type }, body: JSON.stringify(body) },
    })
    yield send('merge patch', 'PATCH', '', mediaTypes.merge, change)
    yield send('strategic merge patch', 'PATCH', '', mediaTypes['strategic merge'], { metadata: { annotations: { a: 'b' } } })
    yield send('update', 'PUT', '', 'application/json', object)
    yield send('unchanged update', 'PUT', '', 'application/json', object)
    yield send('update of the status', 'PATCH', '/status', mediaTypes.merge, { status: { observedGeneration: 1 } })
    yield send('deletion', 'DELETE', '?dryRun=All', 'application/json', {})
  }
}

/** As many members as an object can have with the set of its managed fields. */
const stored = { short: 15_000, full: 50_000 } as const

async function remove(admin: WireClient, objects: Iterable<ObjectToAttack>): Promise<void> {
  for (const { collection, object } of objects)
    await admin.send({ method: 'DELETE', target: `${collection}/${object.metadata.name}?gracePeriodSeconds=0` })
}

export const storedObjectsFamily: Family = {
  name: 'stored objects',
  purpose: 'changes of large stored objects hold up no other request',
  async run(context) {
    const n = stored[context.size]
    await using target = await startTarget({ prepare: (admin) => store(admin, storedObjects(n)) })
    const restore = (admin: WireClient) => remove(admin, storedObjects(n))
    await watchingHeap(target, context, () => sendMeasured(target, storedAttacks(n), context), restore)
  },
}
