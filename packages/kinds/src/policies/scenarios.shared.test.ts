import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type ApiObject, fakeClock, type FieldError, fixedFeatures, seededRandom, stockProfile } from '@krmkit/meta'
import { applyDefaults, DecodeError, decode, normalize } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import type { PolicyContext, ResourceDefinition } from '../interfaces.ts'
import { defaultIpFamilies } from './core/service-fields.ts'

/**
 * The recorded answers of the stock server to writes, against what the policies alone say: refusals cause by cause, and the
 * members of accepted objects outside their metadata. Storage is a map; what admission and controllers add is taken from the
 * recorded answers.
 */

const scenarios = new URL('../../../../../shared/wire/scenarios/', import.meta.url)
const present = existsSync(scenarios)
const catalog = createCatalog()
const folders = ['protocol', 'storage']

type Json = Record<string, unknown>
interface Step {
  id: string
  path?: string
  method?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: unknown
  bodyEncoding?: string
}
interface Answer {
  status?: number
  body?: { details?: { causes?: FieldError[] | string } } & Json
}
interface Scenario {
  steps: Step[]
  expected: Record<string, Answer>
}

interface Target {
  readonly definition: ResourceDefinition
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string
}

const open = new Set(['<any>', '<masked>'])
/** What admission plug-ins of the recorded server add to pods. */
const admitted = ['priority', 'preemptionPolicy', 'serviceAccountName', 'serviceAccount', 'tolerations', 'imagePullSecrets']

describe.skipIf(!present)('writes of the recorded server (skipped when ../shared is absent)', () => {
  let refused = 0
  let accepted = 0
  for (const [name, scenario] of present ? readScenarios() : []) {
    it(name, () => {
      const stored = new Map<string, Json>()
      const differences: string[] = []
      for (const step of scenario.steps) {
        const answer = scenario.expected[step.id]
        const target = targetOf(step.path)
        if (answer === undefined || typeof answer !== 'object' || target === undefined) continue
        const outcome = run(step, target, { answer, stored })
        if (outcome === 'refused') refused++
        else if (outcome === 'accepted') accepted++
        else if (outcome !== undefined) differences.push(`${step.id}: ${outcome}`)
        remember(step, target, { answer, stored })
      }
      expect(differences).toEqual([])
    })
  }

  it('compares many answers', () => {
    expect(refused).toBeGreaterThan(300)
    expect(accepted).toBeGreaterThan(300)
  })
})

function readScenarios(): [string, Scenario][] {
  return folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, scenarios)).map((file): [string, Scenario] => {
      const text = readFileSync(new URL(`${folder}/${file}`, scenarios), 'utf8')
      return [`${folder}/${file.replace('.json', '')}`, JSON.parse(text.replaceAll('{ns}', 'ns-{id}').replaceAll('{id}', 'x1'))]
    }),
  )
}

function targetOf(path: string | undefined): Target | undefined {
  const parts = (path ?? '').split('/').slice(1)
  const group = parts[0] === 'api' ? '' : (parts[1] ?? '')
  const version = (parts[0] === 'api' ? parts[1] : parts[2]) ?? ''
  let rest = parts.slice(parts[0] === 'api' ? 2 : 3)
  let namespace: string | undefined
  if (rest[0] === 'namespaces' && rest.length > 2 && rest[2] !== 'finalize' && rest[2] !== 'status') {
    namespace = rest[1]
    rest = rest.slice(2)
  }
  const definition = catalog.resource({ group, version, resource: rest[0] ?? '' })
  if (definition === undefined || definition.policy.validate === undefined) return undefined
  return { definition, namespace, name: rest[1], subresource: rest[2] ?? '' }
}

function contextOf({ definition }: Target): PolicyContext {
  return {
    clock: fakeClock(Date.parse('2024-05-06T07:08:09Z')),
    random: seededRandom(1),
    profile: stockProfile,
    features: fixedFeatures('1.33'),
    requestVersion: { group: definition.group, version: definition.version },
  }
}

const key = ({ definition, namespace }: Target, name: string): string => {
  return `${definition.storage.group}/${definition.storage.resource}/${namespace ?? ''}/${name}`
}

interface Run {
  readonly answer: Answer
  readonly stored: Map<string, Json>
}

type Outcome = 'refused' | 'accepted' | string | undefined

function run(step: Step, target: Target, { answer, stored }: Run): Outcome {
  const context = contextOf(target)
  const { policy } = target.definition
  const causes = answer.body?.details?.causes
  const judged = answer.status === 422 ? Array.isArray(causes) : answer.status === 200 || answer.status === 201
  if (!judged || step.bodyEncoding !== undefined) return undefined
  let errors: readonly FieldError[]
  let object: Json
  try {
    if (step.method === 'POST' && target.name === undefined) {
      object = prepared(readBody(step, target), target)
      policy.prepareForCreate?.(object as ApiObject, context)
      if (target.definition.kind.kind === 'Service') {
        const problems = defaultIpFamilies(object as never, undefined, { families: ['IPv4'], context })
        if (problems.length > 0) return answer.status === 422 ? compareCauses(problems, causes as FieldError[]) : texts(problems)
      }
      object = admit(object, answer)
      errors = policy.validate?.(freeze(object), context) ?? []
    } else if ((step.method === 'PUT' || step.method === 'PATCH') && target.name !== undefined) {
      const old = stored.get(key(target, target.name))
      const changed = old && change(step, target, old)
      if (old === undefined || changed === undefined) return undefined
      object = prepared(changed, target)
      const meta = object.metadata as Json
      for (const member of ['resourceVersion', 'uid', 'creationTimestamp', 'generation', 'deletionTimestamp', 'deletionGracePeriodSeconds']) {
        const value = (old.metadata as Json)[member]
        if (value !== undefined) meta[member] = value
      }
      const sub = target.subresource === '' ? undefined : policy.subresources?.[target.subresource]
      if (target.subresource !== '' && sub === undefined) return undefined
      const frozen = freeze(old)
      if (sub === undefined) policy.prepareForUpdate?.(object as ApiObject, frozen, context)
      else sub.prepareForUpdate(object as ApiObject, frozen, context)
      if (sub === undefined) object = admit(object, answer)
      errors = (sub === undefined ? policy.validateUpdate?.(freeze(object), frozen, context) : sub.validateUpdate(freeze(object), frozen, context)) ?? []
    } else return undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
  if (answer.status === 422) return compareCauses(errors, causes as FieldError[])
  if (errors.length > 0) return `refused: ${texts(errors)}`
  return compareObject(object, target, answer)
}

function readBody(step: Step, target: Target): Json {
  if (typeof step.body !== 'object' || step.body === null) throw new DecodeError('Type', 'not JSON')
  const { kind } = target.definition
  const body = step.body as Json
  return decode<Json>(kind.type(), { ...body, apiVersion: body.apiVersion ?? '', kind: kind.kind }).object
}

/** Defaulted, and of the storage version. */
function prepared(object: Json, target: Target): Json {
  const { definition } = target
  let result = structuredClone(applyDefaults(definition.kind.type(), object))
  if (definition.toStorage !== undefined) result = structuredClone(definition.toStorage(result as never)) as unknown as Json
  definition.policy.defaults?.(result as ApiObject, definition.version)
  if (target.namespace !== undefined) (result.metadata as Json).namespace = target.namespace
  return result
}

/** What plug-ins add is what the recorded answer has more than ours. */
function admit(object: Json, answer: Answer): Json {
  const spec = answer.body?.spec as Json | undefined
  const own = object.spec as Json | undefined
  if (answer.body?.kind === 'Pod' && own !== undefined) {
    for (const name of admitted) if (spec !== undefined && spec[name] !== undefined && spec[name] !== '<masked>') own[name] = spec[name]
  }
  if (object.kind === 'Pod' && own !== undefined && own.serviceAccountName === undefined) own.serviceAccountName = 'default'
  return object
}

function change(step: Step, target: Target, old: Json): Json | undefined {
  const { definition } = target
  const type = definition.kind.type()
  if (step.method === 'PUT') return readBody(step, target)
  const served = definition.fromStorage === undefined ? old : (definition.fromStorage(old as never) as unknown as Json)
  const media = step.headers?.['content-type'] ?? ''
  if (media === 'application/merge-patch+json') return decode<Json>(type, merge(structuredClone(served), step.body)).object
  if (media === 'application/strategic-merge-patch+json' && mergesPlainly(step.body)) {
    return decode<Json>(type, merge(structuredClone(served), step.body)).object
  }
  return undefined
}

/** Whether a strategic merge patch has no lists, and so is an ordinary merge patch. */
function mergesPlainly(patch: unknown): boolean {
  if (Array.isArray(patch)) return false
  return typeof patch !== 'object' || patch === null || Object.values(patch).every(mergesPlainly)
}

function merge(into: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Json = typeof into === 'object' && into !== null && !Array.isArray(into) ? { ...(into as Json) } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = merge(result[name], value)
  }
  return result
}

function freeze<T>(value: T): never {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) freeze(member)
  }
  return value as never
}

function texts(errors: readonly FieldError[]): string {
  return errors.map((error) => `${error.field} ${error.reason} ${error.message}`).join('\n    ')
}

function compareCauses(errors: readonly FieldError[], causes: readonly FieldError[]): Outcome {
  const plain = (error: FieldError) => {
    // Differences between values are told by the stock server in a form of its own.
    const message = open.has(error.message) ? '*' : error.message.replace(/\n[\s\S]*/, '').replaceAll(/\(0x[0-9a-f]+\)/g, '(nil)')
    return `${error.field} ${error.reason} ${message}`
  }
  const wanted = causes.map(plain)
  const got = errors.map(plain).map((text, i) => (wanted[i]?.endsWith(' *') ? text.split(' ').slice(0, 2).join(' ') + ' *' : text))
  if (wanted.join('\n') === got.join('\n')) return 'refused'
  return `\n  expected\n    ${wanted.join('\n    ')}\n  got\n    ${got.join('\n    ')}`
}

function compareObject(object: Json, target: Target, answer: Answer): Outcome {
  const { definition } = target
  const body = answer.body
  if (body === undefined || typeof body !== 'object' || body.kind !== definition.kind.kind) return undefined
  const served = definition.fromStorage === undefined ? object : (definition.fromStorage(object as never) as unknown as Json)
  const ours = normalize(definition.kind.type(), structuredClone(served) as Json)
  const found: string[] = []
  for (const member of new Set([...Object.keys(body), ...Object.keys(ours)])) {
    if (member !== 'metadata') differ(ours[member], body[member], { path: member, found })
  }
  return found.length === 0 ? 'accepted' : found.join('; ')
}

/** Handed out by the server, or added by a plug-in or a controller. */
const foreign = /^spec\.(clusterIP|clusterIPs|ports\[\d+\]\.nodePort|healthCheckNodePort|taints|tolerations)\b|^(spec\.)?(template\.)?status\.lastPhase/

function differ(ours: unknown, theirs: unknown, to: { path: string; found: string[] }): void {
  if (open.has(theirs as string) || foreign.test(to.path) || admitted.some((name) => to.path === `spec.${name}`)) return
  if (theirs === '<time>' || (typeof theirs === 'string' && theirs.startsWith('<rv'))) return
  if (ours === theirs) return
  if (isObject(ours) && isObject(theirs)) {
    for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
      differ(ours[name], theirs[name], { path: `${to.path}.${name}`, found: to.found })
    }
  } else if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    for (const [i, item] of ours.entries()) differ(item, theirs[i], { path: `${to.path}[${i}]`, found: to.found })
  } else if (!(isHollow(ours) && isHollow(theirs))) to.found.push(`${to.path}: ${JSON.stringify(ours)} for ${JSON.stringify(theirs)}`)
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isHollow(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

/** Keeps what the recorded server has stored, filling in what the recording leaves open. */
function remember(step: Step, target: Target, { answer, stored }: Run): void {
  const { definition } = target
  const body = answer.body
  if (step.query?.dryRun !== undefined || body === undefined || typeof body !== 'object' || body.kind !== definition.kind.kind) return
  const name = target.name ?? ((body.metadata as Json | undefined)?.name as string | undefined)
  if (name === undefined || open.has(name)) return
  if (step.method === 'DELETE') return void stored.delete(key(target, name))
  const before = stored.get(key(target, name))
  const request = step.method === 'POST' && typeof step.body === 'object' ? (step.body as Json) : undefined
  const whole = fill(body, before ?? request) as Json
  const metadata = isObject(whole.metadata) ? whole.metadata : (((before ?? request)?.metadata ?? {}) as Json)
  whole.metadata = { ...metadata, name, resourceVersion: '1', uid: 'u' }
  delete (whole.metadata as Json).managedFields
  try {
    const decoded = decode<Json>(definition.kind.type(), timed(whole)).object
    stored.set(key(target, name), prepared(decoded, target))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
  }
}

function fill(value: unknown, from: unknown): unknown {
  if (open.has(value as string)) return from === undefined ? null : structuredClone(from)
  if (Array.isArray(value)) return value.map((item, i) => fill(item, Array.isArray(from) ? from[i] : undefined))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, isObject(from) ? from[name] : undefined)]))
}

function timed(value: unknown): unknown {
  if (value === '<time>') return '2020-01-02T03:04:05Z'
  if (typeof value === 'string') return value.startsWith('<') ? '1' : value
  if (Array.isArray(value)) return value.map(timed)
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, timed(item)])) : value
}
