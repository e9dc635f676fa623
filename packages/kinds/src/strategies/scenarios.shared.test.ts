import { existsSync, readdirSync, readFileSync } from 'node:fs'
import {
  type ApiObject,
  createFeatures,
  type FieldError,
  fakeClock,
  generateName,
  nameRules,
  seededRandom,
  stockProfile,
  type UserInfo,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@krmkit/meta'
import { applyDefaults, DecodeError, decode, loadCel, normalize } from '@krmkit/schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import type { ResourceDefinition, StrategyContext } from '../interfaces.ts'
import { allocateService, serviceUse } from './core/service-allocation.ts'
import {
  admitted,
  compareCauses,
  compareWarnings,
  differ,
  fill,
  isObject,
  type Json,
  merge,
  mergesPlainly,
  open,
  substitute,
  texts,
  timed,
} from './testing/recorded.ts'

/**
 * The recorded answers of the stock server to writes, against what the policies alone say: refusals cause by cause, and the
 * members of accepted objects outside their metadata. Storage is a map; what admission and controllers add is taken from the
 * recorded answers.
 */

const scenarios = new URL('../../../../../shared/wire/scenarios/', import.meta.url)
const present = existsSync(scenarios)
const catalog = createCatalog()
const folders = ['apply', 'auth', 'crd', 'protocol', 'storage']

interface Step {
  id: string
  as?: string
  path?: string
  method?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: unknown
  bodyEncoding?: string
  save?: Record<string, string>
}
interface Answer {
  status?: number
  warning?: readonly string[]
  body?: { details?: { kind?: string; causes?: FieldError[] | string } } & Json
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

/** Steps whose answer comes from another layer than the policies. */
const elsewhere = new Set([
  // Values of the test's users.
  'auth/token-review/sa-plain-user',
  'auth/service-account-identity/my-parts',
  'auth/service-account-identity/secret-parts',
  // Plug-ins of admission.
  'storage/limitrange/pod-defaulted',
  'storage/pod-defaults/token-volume-added',
  'storage/storageclass-default/none-named',
  'storage/storageclass-default/old-annotation-works',
  // A node was bound, a scale was set, versions were exchanged in between.
  'protocol/watch-field-selector/fail',
  'apply/patch-subresources/deployment-status-spec-ignored',
  'crd/definition-stored-versions/status-empty',
  // Who manages what is told by another package.
  ...['merge-one-empty', 'put-one-empty', 'with-another-change'].map((step) => `apply/managed-fields-clear/${step}`),
  ...['bad-operation', 'no-operation', 'bad-fields-type'].map((step) => `apply/managed-fields-write/${step}`),
  // What is refused is masked.
  'crd/cel-refused-placement-and-cost/too-many-faults',
])

describe.skipIf(!present)('writes of the recorded server (skipped when ../shared is absent)', () => {
  beforeAll(() => loadCel())

  let refused = 0
  let accepted = 0
  for (const [name, scenario] of present ? readScenarios() : []) {
    it(name, () => {
      const stored = new Map<string, Json>()
      const differences: string[] = []
      const saved = new Map<string, unknown>()
      for (const recorded of scenario.steps) {
        const step = { ...recorded, body: substitute(recorded.body, saved) }
        const answer = scenario.expected[step.id]
        const target = targetOf(step.path)
        if (answer === undefined || typeof answer !== 'object' || target === undefined) continue
        const made: { object?: Json } = {}
        const outcome = run(step, target, { answer, stored, made })
        if (elsewhere.has(`${name}/${step.id}`)) continue
        if (outcome === 'refused') refused++
        else if (outcome === 'accepted') accepted++
        else if (outcome !== undefined) differences.push(`${step.id}: ${outcome}`)
        remember(step, target, { answer, stored, made })
        for (const [variable, path] of Object.entries(step.save ?? {})) {
          const whole = answer.body
          const value = path.split('.').reduce<unknown>((at, member) => (isObject(at) ? at[member] : undefined), whole)
          const own = path.split('.').reduce<unknown>((at, member) => (isObject(at) ? at[member] : undefined), made.object)
          saved.set(
            variable,
            isObject(whole) && typeof value === 'string' && !value.startsWith('<') ? value : (own ?? savedMeta(path)),
          )
        }
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
  if (definition === undefined || definition.strategy.validate === undefined) return undefined
  return { definition, namespace, name: rest[1], subresource: rest[2] ?? '' }
}

function isSetMember(value: unknown): boolean {
  return value !== undefined && value !== null
}

function savedMeta(path: string): string {
  return path.endsWith('resourceVersion') ? '1' : 'u'
}

/** What the generic layer asks of every object. */
function commonRules({ definition }: Target) {
  return { namespaced: definition.resource.namespaced, name: nameRules.pathSegment }
}

/** The users whom the recorded server knew. */
const users: Readonly<Record<string, readonly string[]>> = {
  admin: ['system:masters'],
  alice: ['dev'],
  bob: ['dev', 'ops'],
  node1: ['system:nodes'],
}

function userOf({ as = 'admin', headers }: Step): UserInfo {
  const authenticated = 'system:authenticated'
  const name = headers?.['impersonate-user']
  const token = /^([a-z0-9]{6})\.[a-z0-9]{16}$/.exec(as)
  if (token !== null)
    return {
      username: `system:bootstrap:${token[1]}`,
      groups: ['system:bootstrappers', 'system:bootstrappers:x1', authenticated],
    }
  if (name === undefined) {
    return {
      username: as === 'node1' ? 'system:node:node-1' : as,
      uid: `${as}-uid`,
      groups: [...(users[as] ?? []), authenticated],
    }
  }
  const extra = Object.entries(headers ?? {}).filter(([header]) => header.startsWith('impersonate-extra-'))
  const uid = headers?.['impersonate-uid']
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    groups: [headers?.['impersonate-group'] ?? [], authenticated].flat(),
    extra: Object.fromEntries(extra.map(([header, value]) => [header.slice('impersonate-extra-'.length), [value].flat()])),
  }
}

function contextOf({ definition }: Target, step: Step): StrategyContext {
  return {
    user: userOf(step),
    clock: fakeClock(Date.parse('2024-05-06T07:08:09Z')),
    random: seededRandom(1),
    profile: stockProfile,
    features: createFeatures('1.33'),
    requestVersion: { group: definition.group, version: definition.version },
  }
}

const key = ({ definition, namespace }: Target, name: string): string => {
  return `${definition.storage.group}/${definition.storage.resource}/${namespace ?? ''}/${name}`
}

interface Run {
  readonly answer: Answer
  readonly stored: Map<string, Json>
  /** What was worked out, to fill in what the recording leaves open. */
  readonly made: { object?: Json }
}

type Outcome = string | undefined

function run(step: Step, target: Target, { answer, stored, made }: Run): Outcome {
  const context = contextOf(target, step)
  const { strategy: policy } = target.definition
  const causes = answer.body?.details?.causes
  const judged =
    answer.status === 422
      ? Array.isArray(causes) && answer.body?.details?.kind === target.definition.kind.kind
      : answer.status === 200 || answer.status === 201
  if (!judged || step.bodyEncoding !== undefined) return undefined
  let errors: readonly FieldError[]
  let object: Json
  try {
    if (step.method === 'POST' && target.name === undefined) {
      object = prepared(readBody(step, target), target)
      const metadata = (object as ApiObject).metadata
      if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName, context.random)
      metadata.uid = 'u'
      delete metadata.deletionTimestamp
      delete metadata.deletionGracePeriodSeconds
      policy.prepareForCreate?.(object as ApiObject, context)
      if (target.definition.kind.kind === 'Service') {
        const network = { ranges: ['10.0.0.0/16'], nodePorts: { from: 30_000, to: 32_767 } }
        const problems = allocateService(object as never, undefined, { network, use: serviceUse([]), context })
        if (problems.length > 0) return answer.status === 422 ? compareCauses(problems, causes as FieldError[]) : texts(problems)
      }
      object = admit(object, answer)
      errors = policy.validate?.(freeze(object), context) ?? []
      if (errors.length === 0) errors = validateObjectMeta((object as ApiObject).metadata, commonRules(target))
    } else if ((step.method === 'PUT' || step.method === 'PATCH') && target.name !== undefined) {
      const old = stored.get(key(target, target.name))
      const changed = old && change(step, target, old)
      if (old === undefined || changed === undefined) return undefined
      object = prepared(changed, target)
      const meta = object.metadata as Json
      for (const member of [
        'resourceVersion',
        'uid',
        'creationTimestamp',
        'generation',
        'deletionTimestamp',
        'deletionGracePeriodSeconds',
      ]) {
        const value = (old.metadata as Json)[member]
        const given = (member === 'uid' || member === 'deletionGracePeriodSeconds') && isSetMember(meta[member])
        if (value !== undefined && !given) meta[member] = value
      }
      const sub = target.subresource === '' ? undefined : policy.subresources?.[target.subresource]
      if (target.subresource !== '' && sub === undefined) return undefined
      const frozen = freeze(old)
      if (sub === undefined) policy.prepareForUpdate?.(object as ApiObject, frozen, context)
      else sub.prepareForUpdate(object as ApiObject, frozen, context)
      if (sub === undefined) object = admit(object, answer)
      const meta2 = (object as ApiObject).metadata
      const common = [
        ...validateObjectMeta(meta2, commonRules(target)),
        ...validateObjectMetaUpdate(meta2, (old as ApiObject).metadata),
      ]
      const own =
        (sub === undefined
          ? policy.validateUpdate?.(freeze(object), frozen, context)
          : sub.validateUpdate(freeze(object), frozen, context)) ?? []
      errors = [...common, ...own]
    } else return undefined
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
  made.object = object
  if (answer.status === 422) return compareCauses(errors, causes as FieldError[])
  if (errors.length > 0) return `refused: ${texts(errors)}`
  const old = target.name === undefined ? undefined : stored.get(key(target, target.name))
  const advice = policy.warnings?.(freeze(object), old && freeze(structuredClone(old)), context) ?? []
  const wrong = compareWarnings(advice, answer.warning)
  return wrong ?? compareObject(object, target, answer)
}

function readBody(step: Step, target: Target): Json {
  if (typeof step.body !== 'object' || step.body === null) throw new DecodeError('Type', 'not JSON')
  const { kind } = target.definition
  const body = step.body as Json
  return decode<Json>(kind.type(), {
    ...body,
    apiVersion:
      target.definition.group === '' ? target.definition.version : `${target.definition.group}/${target.definition.version}`,
    kind: kind.kind,
  }).object
}

/** Defaulted, and of the storage version. */
function prepared(object: Json, target: Target): Json {
  const { definition } = target
  let result = structuredClone(applyDefaults(definition.kind.type(), object))
  if (definition.toStorage !== undefined) result = structuredClone(definition.toStorage(result as never)) as unknown as Json
  definition.strategy.defaults?.(result as ApiObject, definition.version, stockProfile)
  if (target.namespace === undefined) delete (result.metadata as Json).namespace
  else (result.metadata as Json).namespace = target.namespace
  return result
}

/** What plug-ins add is what the recorded answer has more than ours. */
function admit(object: Json, answer: Answer): Json {
  const spec = answer.body?.spec as Json | undefined
  const own = object.spec as Json | undefined
  if (answer.body?.kind === 'Pod' && own !== undefined) {
    for (const name of admitted)
      if (spec !== undefined && spec[name] !== undefined && spec[name] !== '<masked>') own[name] = spec[name]
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

function freeze<T>(value: T): never {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) freeze(member)
  }
  return value as never
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

/** Keeps what the recorded server has stored, filling in what the recording leaves open. */
function remember(step: Step, target: Target, { answer, stored, made }: Run): void {
  const { definition } = target
  const body = answer.body
  const held = target.name === undefined ? undefined : stored.get(key(target, target.name))
  if (
    step.method === 'DELETE' &&
    held !== undefined &&
    step.query?.dryRun === undefined &&
    (body?.status === 'Success' || (answer.status ?? 500) < 300)
  ) {
    const { deletionTimestamp = '2020-01-02T03:04:05Z' } = held.metadata as Json
    const metadata = { ...(held.metadata as Json), deletionTimestamp, deletionGracePeriodSeconds: 0 }
    stored.set(key(target, target.name as string), { ...held, metadata })
  }
  if (step.query?.dryRun !== undefined || body === undefined || typeof body !== 'object' || body.kind !== definition.kind.kind)
    return
  const named = isObject(body.metadata) ? body.metadata : ((made.object?.metadata ?? {}) as Json)
  const name = target.name ?? (named.name as string | undefined)
  if (name === undefined || open.has(name)) return
  const before = stored.get(key(target, name))
  const request = step.method === 'POST' && typeof step.body === 'object' ? (step.body as Json) : undefined
  const whole = fill(body, made.object ?? before ?? request) as Json
  const metadata = isObject(whole.metadata) ? whole.metadata : (((made.object ?? before ?? request)?.metadata ?? {}) as Json)
  whole.metadata = { ...metadata, name, resourceVersion: '1', uid: 'u' }
  delete (whole.metadata as Json).managedFields
  try {
    const decoded = decode<Json>(definition.kind.type(), timed(whole)).object
    stored.set(key(target, name), prepared(decoded, target))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
  }
}
