import type { Dice } from '../../attacks/harness/dice.ts'
import type { Scenario, Step } from '../scenario.ts'
import type { Draft } from './changes.ts'
import { pickSubject, randomStatus, type Subject, scenario, writeQuery } from './subjects.ts'
import { mutate } from './values.ts'

function targetOf({ path, subresources }: Subject, dice: Dice): string {
  return subresources.length > 0 && dice.chance(25) ? `${path}/${dice.pick(subresources)}` : path
}

/** Replacements of an object with mutable and immutable fields changed, of the whole and of subresources. */
export function generateUpdates(dice: Dice): Scenario {
  const subject = pickSubject(dice)
  const { collection, path, object, definition } = subject
  const steps: Step[] = [{ id: 'create', method: 'POST', path: collection, body: { json: structuredClone(object) } }]
  for (let i = 0; i < 7; i++) {
    const next = structuredClone(object)
    for (let changes = dice.pick([0, 1, 1, 1, 2, 3]); changes > 0; changes--) mutate(next, definition.kind.type(), dice)
    const metadata = next['metadata']
    if (typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)) setPreconditions(metadata as Draft, dice)
    const target = targetOf(subject, dice)
    if (target.endsWith('/status')) next['status'] = randomStatus(definition, dice)
    steps.push({ id: `update${i}`, method: 'PUT', path: target, query: writeQuery(dice), body: { json: next } })
    if (dice.chance(20)) steps.push({ id: `get${i}`, method: 'GET', path })
  }
  return scenario('updates', subject, steps)
}

function setPreconditions(metadata: Draft, dice: Dice): void {
  if (dice.chance(25))
    metadata['resourceVersion'] = dice.pick(['{create.metadata.resourceVersion}', '1', '99999999', 'x', '0', ''])
  if (dice.chance(10)) metadata['uid'] = dice.pick(['{create.metadata.uid}', 'other', ''])
}
