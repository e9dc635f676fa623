import type { RandomChoices } from '@krmkit/base/random-choices'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { collectionPath, createdResources, sampleObject } from './bodies.ts'
import type { Draft } from './changes.ts'
import { randomValue } from './values.ts'

/** What scenarios of writes have in common: an object with its paths, and the options of the requests. */

/** The object of a scenario of writes, and the paths to it. */
export interface Subject {
  readonly definition: ResourceDefinition
  readonly collection: string
  readonly path: string
  readonly object: Draft
  /** Names of subresources of the same kind, such as `status`. */
  readonly subresources: readonly string[]
}

/** kube-apiserver itself writes the status of FlowSchemas some time after each change. */
export const writtenResources = createdResources.filter(({ resource }) => resource.name !== 'flowschemas')

export function pickSubject(random: RandomChoices): Subject {
  const definition = random.pick(writtenResources)
  const collection = collectionPath(definition)
  const name = '{id}-a'
  const subresources = definition.subresources
    .filter(({ kind, verbs }) => kind.kind === definition.kind.kind && verbs.includes('patch'))
    .map((subresource) => subresource.name.slice(subresource.name.indexOf('/') + 1))
  return { definition, collection, path: `${collection}/${name}`, object: sampleObject(definition, name, random), subresources }
}

export function scenario(area: string, { definition }: Subject, steps: readonly Step[]): Scenario {
  return { area, ...(definition.resource.namespaced ? {} : { namespace: false as const }), steps }
}

/** Path of the scale subresource; `undefined` where there is none. */
export function scalePath({ definition, path }: Subject): string | undefined {
  const name = `${definition.resource.name}/scale`
  return definition.subresources.some((subresource) => subresource.name === name) ? `${path}/scale` : undefined
}

export function writeQuery(random: RandomChoices): [string, string][] {
  const query: [string, string][] = []
  if (random.chance(15)) query.push(['dryRun', 'All'])
  if (random.chance(30)) query.push(['fieldValidation', random.pick(['Strict', 'Warn', 'Ignore'])])
  if (random.chance(20)) query.push(['fieldManager', random.pick(['m1', 'm2', 'a b', 'x'.repeat(129)])])
  return query
}

export function randomStatus(definition: ResourceDefinition, random: RandomChoices): JsonValue {
  const status = definition.kind.type().field.get('status')
  return status === undefined ? {} : randomValue(status.type, 'status', random)
}
