import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Scenario, Step } from '../scenario.ts'
import { change, type Draft } from './changes.ts'
import { thin } from './patches.ts'
import { pickSubject, randomStatus, type Subject, scalePath, scenario } from './subjects.ts'

/** Server-side apply by two to four managers, with updates and patches in between. */
export function generateApplies(random: RandomChoices): Scenario {
  const subject = pickSubject(random)
  const { collection, path, object } = subject
  const steps: Step[] = []
  if (random.chance(40)) {
    const query: Step['query'] = [['fieldManager', 'creator']]
    steps.push({ id: 'create', method: 'POST', path: collection, query, body: { json: structuredClone(object) } })
  }
  const managers = ['m1', 'm2', 'm3', 'm4'].slice(0, 2 + random.below(3))
  for (let i = 0; i < 9; i++) {
    const kind = random.below(100)
    const manager = random.pick(managers)
    if (kind < 12) steps.push({ id: `update${i}`, ...update(subject, manager, random) })
    else if (kind < 20) steps.push({ id: `patch${i}`, ...patch(subject, manager, random) })
    else steps.push({ id: `apply${i}`, ...apply(subject, manager, random) })
    if (random.chance(8)) steps.push({ id: `get${i}`, method: 'GET', path })
  }
  return scenario('applies', subject, steps)
}

type Request = Omit<Step, 'id'>

function changed({ object, definition }: Subject, random: RandomChoices): Draft {
  const body = structuredClone(object)
  for (let changes = random.pick([0, 1, 1, 1, 2]); changes > 0; changes--) change(body, definition, random)
  return body
}

function update(subject: Subject, manager: string, random: RandomChoices): Request {
  const json = changed(subject, random)
  return { method: 'PUT', path: subject.path, query: [['fieldManager', manager]], body: { json } }
}

function patch(subject: Subject, manager: string, random: RandomChoices): Request {
  const json = changed(subject, random)
  for (const key of ['apiVersion', 'kind']) delete json[key]
  thin(json, random)
  const headers = { 'content-type': 'application/merge-patch+json' }
  return { method: 'PATCH', path: subject.path, query: [['fieldManager', manager]], headers, body: { json } }
}

function apply(subject: Subject, manager: string, random: RandomChoices): Request {
  const { path, subresources, definition } = subject
  const scale = scalePath(subject)
  const query: [string, string][] = random.chance(97) ? [['fieldManager', manager]] : []
  if (random.chance(35)) query.push(['force', random.pick(['true', 'true', 'true', 'true', 'false', '1', 'x'])])
  if (random.chance(10)) query.push(['dryRun', 'All'])
  if (random.chance(20)) query.push(['fieldValidation', random.pick(['Strict', 'Warn', 'Ignore'])])
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  if (scale !== undefined && random.chance(15)) {
    const metadata = random.chance(80) ? { name: '{id}-a' } : { name: '{id}-a', labels: { a: 'b' } }
    const json: JsonValue = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec: { replicas: random.below(4) } }
    return { method: 'PATCH', path: scale, query, headers, body: { json } }
  }
  const subresource = subresources.length > 0 && random.chance(20) ? random.pick(subresources) : ''
  const body = changed(subject, random)
  if (random.chance(60)) thin(body['spec'] ?? body['data'] ?? null, random)
  if (random.chance(15)) for (const key of Object.keys(body)) if (!typeMembers.has(key) && random.chance(50)) delete body[key]
  if (subresource === 'status') {
    body['status'] = randomStatus(definition, random)
    if (random.chance(70)) delete body['spec']
  }
  if (random.chance(4)) editMetadata(body, random)
  const target = subresource === '' ? path : `${path}/${subresource}`
  return { method: 'PATCH', path: target, query, headers, body: { json: body } }
}

const typeMembers = new Set(['apiVersion', 'kind', 'metadata'])

function editMetadata(body: Draft, random: RandomChoices): void {
  const metadata = { ...(body['metadata'] as JsonObject | undefined) } as Draft
  body['metadata'] = metadata
  const name = random.pick(['managedFields', 'resourceVersion', 'uid', 'name', 'namespace', 'generateName', 'creationTimestamp'])
  metadata[name] = random.pick<JsonValue>([[], '1', 'x', null, [{}]])
}
