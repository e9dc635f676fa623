import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { collectionPath, sampleObject } from './bodies.ts'
import { writtenResources } from './subjects.ts'

/**
 * Two clients that read one object and change it in turn, each from the version that it has seen. The one who is late is refused, reads
 * again and repeats. Steps run one after another, so both servers see the same order.
 */
export function generateRaces(random: RandomChoices): Scenario {
  const definition = random.pick(writtenResources.filter(({ resource }) => resource.name !== 'namespaces'))
  const collection = collectionPath(definition)
  const path = `${collection}/{id}-a`
  const body = sampleObject(definition, '{id}-a', random)
  const seen = new Map<string, string>()
  const steps: Step[] = [{ id: 'create', method: 'POST', path: collection, body: { json: body as JsonObject } }]
  for (const client of ['x', 'y']) seen.set(client, 'create')
  for (let i = 0; i < 9; i++) {
    const client = random.pick(['x', 'y'])
    const id = `${client}${i}`
    const version = `{${seen.get(client) ?? 'create'}.metadata.resourceVersion}`
    const uid = `{${random.pick(['create', seen.get(client) ?? 'create'])}.metadata.uid}`
    switch (random.below(8)) {
      case 0:
      case 1:
        steps.push({ id, method: 'GET', path })
        seen.set(client, id)
        break
      case 2:
      case 3: {
        const metadata = { ...(body['metadata'] as JsonObject), resourceVersion: version, labels: { by: client, i: String(i) } }
        steps.push({ id, method: 'PUT', path, body: { json: { ...body, metadata } } })
        break
      }
      case 4:
      case 5: {
        const metadata = { resourceVersion: version, ...(random.chance(40) ? { uid } : {}), annotations: { [client]: String(i) } }
        const type = random.pick(['merge', 'strategic-merge'])
        steps.push({
          id,
          method: 'PATCH',
          path,
          headers: { 'content-type': `application/${type}-patch+json` },
          body: { json: { metadata } },
        })
        break
      }
      case 6: {
        const test = { op: 'test', path: '/metadata/resourceVersion', value: version }
        const add = { op: 'add', path: '/metadata/annotations', value: { [client]: String(i) } }
        steps.push({
          id,
          method: 'PATCH',
          path,
          headers: { 'content-type': 'application/json-patch+json' },
          body: { json: [test, add] },
        })
        break
      }
      default: {
        const preconditions = random.pick<JsonObject>([{ resourceVersion: version }, { uid }, { uid, resourceVersion: version }])
        steps.push({
          id,
          method: 'DELETE',
          path,
          query: random.chance(60) ? 'dryRun=All' : '',
          body: { json: { preconditions } },
        })
      }
    }
  }
  steps.push({ id: 'last', method: 'GET', path })
  return { area: 'races', ...(definition.resource.namespaced ? {} : { namespace: false as const }), steps }
}
