import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { Dice } from '../../attacks/harness/dice.ts'
import type { Scenario, Step } from '../scenario.ts'
import { change, type Draft } from './changes.ts'
import { thin } from './patches.ts'
import { pickSubject, randomStatus, type Subject, scalePath, scenario } from './subjects.ts'

/** Server-side apply by two to four managers, with updates and patches in between. */
export function generateApplies(dice: Dice): Scenario {
  const subject = pickSubject(dice)
  const { collection, path, object } = subject
  const steps: Step[] = []
  if (dice.chance(40)) {
    const query: Step['query'] = [['fieldManager', 'creator']]
    steps.push({ id: 'create', method: 'POST', path: collection, query, body: { json: structuredClone(object) } })
  }
  const managers = ['m1', 'm2', 'm3', 'm4'].slice(0, 2 + dice.below(3))
  for (let i = 0; i < 9; i++) {
    const kind = dice.below(100)
    const manager = dice.pick(managers)
    if (kind < 12) steps.push({ id: `update${i}`, ...update(subject, manager, dice) })
    else if (kind < 20) steps.push({ id: `patch${i}`, ...patch(subject, manager, dice) })
    else steps.push({ id: `apply${i}`, ...apply(subject, manager, dice) })
    if (dice.chance(8)) steps.push({ id: `get${i}`, method: 'GET', path })
  }
  return scenario('applies', subject, steps)
}

type Request = Omit<Step, 'id'>

function changed({ object, definition }: Subject, dice: Dice): Draft {
  const body = structuredClone(object)
  for (let changes = dice.pick([0, 1, 1, 1, 2]); changes > 0; changes--) change(body, definition, dice)
  return body
}

function update(subject: Subject, manager: string, dice: Dice): Request {
  const json = changed(subject, dice)
  return { method: 'PUT', path: subject.path, query: [['fieldManager', manager]], body: { json } }
}

function patch(subject: Subject, manager: string, dice: Dice): Request {
  const json = changed(subject, dice)
  for (const key of ['apiVersion', 'kind']) delete json[key]
  thin(json, dice)
  const headers = { 'content-type': 'application/merge-patch+json' }
  return { method: 'PATCH', path: subject.path, query: [['fieldManager', manager]], headers, body: { json } }
}

function apply(subject: Subject, manager: string, dice: Dice): Request {
  const { path, subresources, definition } = subject
  const scale = scalePath(subject)
  const query: [string, string][] = dice.chance(97) ? [['fieldManager', manager]] : []
  if (dice.chance(35)) query.push(['force', dice.pick(['true', 'true', 'true', 'true', 'false', '1', 'x'])])
  if (dice.chance(10)) query.push(['dryRun', 'All'])
  if (dice.chance(20)) query.push(['fieldValidation', dice.pick(['Strict', 'Warn', 'Ignore'])])
  const headers = { 'content-type': 'application/apply-patch+yaml' }
  if (scale !== undefined && dice.chance(15)) {
    const metadata = dice.chance(80) ? { name: '{id}-a' } : { name: '{id}-a', labels: { a: 'b' } }
    const json: JsonValue = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec: { replicas: dice.below(4) } }
    return { method: 'PATCH', path: scale, query, headers, body: { json } }
  }
  const subresource = subresources.length > 0 && dice.chance(20) ? dice.pick(subresources) : ''
  const body = changed(subject, dice)
  if (dice.chance(60)) thin(body['spec'] ?? body['data'] ?? null, dice)
  if (dice.chance(15)) for (const key of Object.keys(body)) if (!typeMembers.has(key) && dice.chance(50)) delete body[key]
  if (subresource === 'status') {
    body['status'] = randomStatus(definition, dice)
    if (dice.chance(70)) delete body['spec']
  }
  if (dice.chance(4)) editMetadata(body, dice)
  const target = subresource === '' ? path : `${path}/${subresource}`
  return { method: 'PATCH', path: target, query, headers, body: { json: body } }
}

const typeMembers = new Set(['apiVersion', 'kind', 'metadata'])

function editMetadata(body: Draft, dice: Dice): void {
  const metadata = body['metadata'] as JsonObject & Draft
  const name = dice.pick(['managedFields', 'resourceVersion', 'uid', 'name', 'namespace', 'generateName', 'creationTimestamp'])
  metadata[name] = dice.pick<JsonValue>([[], '1', 'x', null, [{}]])
}
