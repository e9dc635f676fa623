import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Scenario, Step } from '../scenario.ts'
import type { Draft } from './changes.ts'
import { pickSubject, randomStatus, type Subject, scenario, writeQuery } from './subjects.ts'
import { mutate } from './values.ts'

function targetOf({ path, subresources }: Subject, random: RandomChoices): string {
  return subresources.length > 0 && random.chance(25) ? `${path}/${random.pick(subresources)}` : path
}

/** Replacements of an object with mutable and immutable fields changed, of the whole and of subresources. */
export function generateUpdates(random: RandomChoices): Scenario {
  const subject = pickSubject(random)
  const { collection, path, object, definition } = subject
  const steps: Step[] = [{ id: 'create', method: 'POST', path: collection, body: { json: structuredClone(object) } }]
  for (let i = 0; i < 7; i++) {
    const next = structuredClone(object)
    for (let changes = random.pick([0, 1, 1, 1, 2, 3]); changes > 0; changes--) mutate(next, definition.kind.type(), random)
    const metadata = next['metadata']
    if (typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)) setPreconditions(metadata as Draft, random)
    const target = targetOf(subject, random)
    if (target.endsWith('/status')) next['status'] = randomStatus(definition, random)
    steps.push({ id: `update${i}`, method: 'PUT', path: target, query: writeQuery(random), body: { json: next } })
    if (random.chance(20)) steps.push({ id: `get${i}`, method: 'GET', path })
  }
  return scenario('updates', subject, steps)
}

function setPreconditions(metadata: Draft, random: RandomChoices): void {
  if (random.chance(25))
    metadata['resourceVersion'] = random.pick(['{create.metadata.resourceVersion}', '1', '99999999', 'x', '0', ''])
  if (random.chance(10)) metadata['uid'] = random.pick(['{create.metadata.uid}', 'other', ''])
}
