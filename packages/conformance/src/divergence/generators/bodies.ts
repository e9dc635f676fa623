import type { RandomChoices } from '@krmkit/base/random-choices'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { type Sample, samplesOf } from '../samples/index.ts'
import type { Scenario, Step } from '../scenario.ts'
import { definitions } from '../types.ts'
import { mutate } from './values.ts'

/** Resources whose objects the generators create. */
export const createdResources: readonly ResourceDefinition[] = definitions.filter(
  (definition) => samplesOf(definition).length > 0,
)

/** Path of a resource, in the scenario's namespace when it has one. */
export function collectionPath({ group, version, resource }: ResourceDefinition): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  return resource.namespaced ? `${root}/namespaces/{ns}/${resource.name}` : `${root}/${resource.name}`
}

/** A valid object with type and name. */
export function sampleObject(definition: ResourceDefinition, name: string, random: RandomChoices): Record<string, JsonValue> {
  const sample = structuredClone(random.pick(samplesOf(definition))) as Sample
  const metadata = { name, ...(sample['metadata'] as JsonObject | undefined) }
  const { kind, group, version } = definition.kind
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, ...sample, metadata }
}

/** Creations of valid and damaged objects of one kind: status, causes, defaults, warnings. */
export function generateBodies(random: RandomChoices): Scenario {
  const definition = random.pick(createdResources)
  const path = collectionPath(definition)
  const steps: Step[] = []
  for (let i = 0; i < 8; i++) {
    const body = sampleObject(definition, `{id}-${i}`, random)
    for (let changes = random.pick([0, 1, 1, 1, 1, 2, 3]); changes > 0; changes--) mutate(body, definition.kind.type(), random)
    const query: [string, string][] = []
    if (random.chance(50)) query.push(['dryRun', 'All'])
    if (random.chance(40)) query.push(['fieldValidation', random.pick(['Strict', 'Warn', 'Ignore'])])
    steps.push({ id: `create${i}`, method: 'POST', path, query, body: { json: body } })
  }
  return { area: 'bodies', ...(definition.resource.namespaced ? {} : { namespace: false }), steps }
}
