import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { collectionPath, createdResources, sampleObject } from './bodies.ts'

const finalizers = [
  ['example.com/a'],
  ['example.com/a', 'example.com/b'],
  ['foregroundDeletion'],
  ['orphan'],
  [],
  ['kubernetes'],
  ['x'],
  ['a/b/c'],
]
const policies = ['Foreground', 'Background', 'Orphan', 'x', '']

/** Namespaces have a generator of their own; kube-apiserver writes the conditions of flow schemas in the background. */
const excluded: ReadonlySet<string> = new Set(['namespaces', 'flowschemas'])

/** Creation, finalizers, deletion with every option, deletion of collections, and re-creation. */
export function generateLives(random: RandomChoices): Scenario {
  const definition = random.pick(createdResources.filter(({ resource }) => !excluded.has(resource.name)))
  const path = collectionPath(definition)
  const namespaced = definition.resource.namespaced
  const steps: Step[] = []
  const create = (i: number, name: string): Step => {
    const body = sampleObject(definition, name, random)
    const metadata: Record<string, unknown> = { ...(body['metadata'] as JsonObject), labels: { a: random.pick(['1', '2']) } }
    if (random.chance(50)) metadata['finalizers'] = random.pick(finalizers)
    if (random.chance(20))
      metadata['ownerReferences'] = [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: 'o',
          uid: 'u',
          blockOwnerDeletion: random.chance(50),
          controller: random.chance(50),
        },
      ]
    if (random.chance(10)) {
      delete metadata['name']
      metadata['generateName'] = '{id}-gen-'
    }
    return { id: `create${i}`, method: 'POST', path, body: { json: { ...body, metadata } as never } }
  }
  for (let i = 0; i < 10; i++) {
    const name = `{id}-${random.below(2)}`
    const object = `${path}/${name}`
    switch (i === 0 ? 0 : random.below(8)) {
      case 0:
      case 1:
        steps.push(create(i, name))
        break
      case 2:
      case 3:
      case 4:
        steps.push({ id: `delete${i}`, method: 'DELETE', path: object, query: deleteQuery(random), ...deleteBody(random) })
        break
      case 5:
        steps.push({ id: `get${i}`, method: 'GET', path: object })
        break
      case 6: {
        const list = random.pick<unknown>([...finalizers, null])
        const body = { metadata: { finalizers: list } }
        steps.push({
          id: `finalize${i}`,
          method: 'PATCH',
          path: object,
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { json: body as never },
        })
        break
      }
      default:
        // A collection of all namespaces or of the cluster holds objects of other scenarios.
        if (namespaced)
          steps.push({
            id: `clear${i}`,
            method: 'DELETE',
            path,
            query: [
              ...deleteQuery(random),
              ...(random.chance(50) ? [['labelSelector', random.pick(['a=1', 'a=2', 'b', 'a in ('])] as [string, string]] : []),
            ],
            ...deleteBody(random),
          })
    }
  }
  return { area: 'lives', ...(namespaced ? {} : { namespace: false }), steps }
}

function deleteQuery(random: RandomChoices): [string, string][] {
  const query: [string, string][] = []
  if (random.chance(20)) query.push(['gracePeriodSeconds', random.pick(['0', '1', '-1', '30', 'x', ''])])
  if (random.chance(20)) query.push(['propagationPolicy', random.pick(policies)])
  if (random.chance(15)) query.push(['dryRun', random.pick(['All', 'All', 'x', 'all'])])
  if (random.chance(8)) query.push(['orphanDependents', random.pick(['true', 'false', 'x'])])
  return query
}

function deleteBody(random: RandomChoices): Pick<Step, 'body'> {
  if (random.chance(50)) return {}
  const options: Record<string, unknown> = random.chance(70) ? { apiVersion: 'v1', kind: 'DeleteOptions' } : {}
  if (random.chance(40)) options['propagationPolicy'] = random.pick(policies)
  if (random.chance(25)) options['gracePeriodSeconds'] = random.pick([0, 1, 30, -1, '1', null])
  if (random.chance(25))
    options['preconditions'] = random.pick<unknown>([
      { uid: '{create0.metadata.uid}' },
      { uid: 'x' },
      { resourceVersion: '1' },
      { resourceVersion: '{create0.metadata.resourceVersion}' },
      {},
      null,
    ])
  if (random.chance(10)) options['dryRun'] = random.pick<unknown>([['All'], ['x'], 'All', []])
  if (random.chance(8)) options['orphanDependents'] = random.pick<unknown>([true, false])
  if (random.chance(8)) options['unknown'] = 1
  if (random.chance(5)) options['kind'] = 'ConfigMap'
  return { body: { json: options as never } }
}

/**
 * Namespaces: their phases, finalizers by sub-resource, and writes into terminating ones. They hold Leases, which the policies and webhooks
 * of other scenarios do not match: in a namespace that is gone, whose labels cannot be read, every policy that matches refuses a deletion.
 */
export function generateNamespaces(random: RandomChoices): Scenario {
  const path = '/api/v1/namespaces'
  const own = `${path}/{id}-n`
  const leases = '/apis/coordination.k8s.io/v1/namespaces/{id}-n/leases'
  const steps: Step[] = [
    {
      id: 'create0',
      method: 'POST',
      path,
      body: {
        json: {
          metadata: { name: '{id}-n', ...(random.chance(50) ? { finalizers: ['example.com/a'] } : {}) },
          ...(random.chance(50) ? { spec: { finalizers: ['example.com/s'] } } : {}),
        },
      },
    },
  ]
  const lease = (name: string) => ({ json: { metadata: { name } } })
  for (let i = 0; i < 10; i++) {
    switch (random.below(8)) {
      case 0:
        steps.push({ id: `delete${i}`, method: 'DELETE', path: own, query: deleteQuery(random), ...deleteBody(random) })
        break
      case 1:
        steps.push({ id: `inside${i}`, method: 'POST', path: leases, body: lease(`c${random.below(2)}`) })
        break
      case 2:
        steps.push({
          id: `edit${i}`,
          method: 'PATCH',
          path: `${leases}/c0`,
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { json: { spec: { holderIdentity: String(i) } } },
        })
        break
      case 3: {
        const body = {
          apiVersion: 'v1',
          kind: 'Namespace',
          metadata: { name: '{id}-n' },
          spec: { finalizers: random.pick([[], ['kubernetes'], ['example.com/s'], ['x']]) },
        }
        steps.push({ id: `finalize${i}`, method: 'PUT', path: `${own}/finalize`, body: { json: body } })
        break
      }
      case 4: {
        const status = {
          phase: random.pick(['Active', 'Terminating', 'x', '']),
          conditions: random.pick<unknown>([[], [{ type: 'A', status: 'True' }], null]),
        }
        const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '{id}-n' }, status }
        steps.push({ id: `status${i}`, method: 'PUT', path: `${own}/status`, body: { json: body as never } })
        break
      }
      case 5:
        steps.push({
          id: `unhold${i}`,
          method: 'PATCH',
          path: own,
          headers: { 'content-type': 'application/merge-patch+json' },
          body: {
            json: {
              metadata: { finalizers: random.pick([[], null, ['example.com/b']]) },
              ...(random.chance(30) ? { spec: { finalizers: [] } } : {}),
            },
          },
        })
        break
      case 6:
        steps.push({ id: `leave${i}`, method: 'DELETE', path: `${leases}/c${random.below(2)}` })
        break
      default:
        steps.push({ id: `get${i}`, method: 'GET', path: own })
    }
  }
  return { area: 'namespaces', namespace: false, steps }
}
