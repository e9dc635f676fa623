import type { RandomChoices } from '@krmkit/base/random-choices'
import type { Field } from '@krmkit/schema'
import type { Scenario, Step } from '../scenario.ts'
import { allPlaces, type Draft } from './changes.ts'
import { pickSubject, scenario } from './subjects.ts'

/** Empty lists and maps where a member is absent. They are not stored, but some rules of kube-apiserver tell them from absent ones. */
export function generateEmpties(random: RandomChoices): Scenario {
  const subject = pickSubject(random)
  const { collection, path, object, definition } = subject
  const type = definition.kind.type()
  const choose = (draft: Draft) => {
    const places = allPlaces(draft, type).filter(
      ({ holder, field, pointer }) =>
        emptyOf(field) !== undefined && !Object.hasOwn(holder, field.json) && !pointer.startsWith('/metadata/'),
    )
    return places.length === 0 ? undefined : random.pick(places)
  }
  const withEmpties = (): Draft => {
    const draft = structuredClone(object)
    for (let count = random.pick([1, 1, 2]); count > 0; count--) {
      const place = choose(draft)
      if (place !== undefined) place.holder[place.field.json] = emptyOf(place.field) ?? null
    }
    return draft
  }
  const steps: Step[] = []
  for (let i = 0; i < 4; i++) {
    steps.push({ id: `try${i}`, method: 'POST', path: collection, query: [['dryRun', 'All']], body: { json: withEmpties() } })
  }
  steps.push({ id: 'create', method: 'POST', path: collection, body: { json: random.chance(50) ? withEmpties() : object } })
  for (let i = 0; i < 5; i++) {
    const metadata = { ...(object['metadata'] as Draft), resourceVersion: '{create.metadata.resourceVersion}' }
    const query: [string, string][] = random.chance(60) ? [['dryRun', 'All']] : []
    const next = withEmpties()
    if (query.length > 0) next['metadata'] = metadata
    steps.push({ id: `update${i}`, method: 'PUT', path, query, body: { json: next } })
  }
  for (let i = 0; i < 3; i++) {
    const place = choose(structuredClone(object))
    if (place === undefined) continue
    const patch = [{ op: 'add', path: place.pointer, value: emptyOf(place.field) ?? null }]
    const headers = { 'content-type': 'application/json-patch+json' }
    steps.push({ id: `patch${i}`, method: 'PATCH', path, headers, body: { json: patch } })
  }
  return scenario('empties', subject, steps)
}

/** The empty value of a list or map; `undefined` for other types. */
function emptyOf({ type }: Field): [] | Record<string, never> | undefined {
  if (type.kind === 'list') return []
  return type.kind === 'map' ? {} : undefined
}
