/** Replays recorded writes against strategies. */

import { runAtOnce } from '@krmkit/base/work'
import {
  type ApiObject,
  createFeatures,
  type FieldError,
  fakeClock,
  generateName,
  isJsonObject,
  nameRules,
  seededRandom,
  stockProfile,
  type UserInfo,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@krmkit/meta'
import { applyDefaults, DecodeError, decode, normalize } from '@krmkit/schema'
import type { ResourceDefinition, StrategyContext } from '../../interfaces.ts'
import { done, runPreparation } from '../../preparation.ts'
import { runValidation } from '../../validation.ts'
import { allocateService, serviceUse } from '../core/service/allocation.ts'
import { isSet } from '../shared/values.ts'
import {
  admitted,
  compareCauses,
  compareWarnings,
  differ,
  fill,
  isPlainMerge,
  type Json,
  merge,
  open,
  texts,
  timed,
} from './recorded.ts'

/** A recorded request. */
export interface Step {
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
/** The recorded response. */
export interface RecordedResponse {
  status?: number
  warning?: readonly string[]
  body?: { details?: { kind?: string; causes?: FieldError[] | string } } & Json
}
/** The resource and object of a request. */
export interface Target {
  readonly definition: ResourceDefinition
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string
}

/** Generic rules of every object. */
function commonRules({ definition }: Target) {
  return { namespaced: definition.resource.namespaced, name: nameRules.pathSegment }
}

/** The users of the recording. */
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
    dryRun: step.query?.['dryRun'] === 'All',
  }
}

/** Key of an object in the map of stored objects. */
const storageKey = ({ definition, namespace }: Target, name: string): string => {
  return `${definition.storage.group}/${definition.storage.resource}/${namespace ?? ''}/${name}`
}

export interface Replay {
  readonly answer: RecordedResponse
  readonly stored: Map<string, Json>
  /** The computed object, which fills what the recording masks. */
  readonly made: { object?: Json }
}

/** `refused` and `accepted` for equal results, a text for a difference; undefined for steps that cannot be compared. */
type Outcome = string | undefined

/** What the strategies make of a request. */
type Result = { readonly errors: readonly FieldError[]; readonly object: Json } | undefined

/** Runs a step against the strategies and compares the result with the recorded response. */
export function replay(step: Step, target: Target, { answer, stored, made }: Replay): Outcome {
  const context = contextOf(target, step)
  const causes = answer.body?.details?.causes
  const comparable =
    answer.status === 422
      ? Array.isArray(causes) && answer.body?.details?.kind === target.definition.kind.kind
      : answer.status === 200 || answer.status === 201
  if (!comparable || step.bodyEncoding !== undefined) return undefined
  let result: Result
  try {
    if (step.method === 'POST' && target.name === undefined) result = create(step, target, { answer, context })
    else if ((step.method === 'PUT' || step.method === 'PATCH') && target.name !== undefined)
      result = update(step, target, { answer, context, old: stored.get(storageKey(target, target.name)) })
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
  }
  if (result === undefined) return undefined
  const { errors, object } = result
  made.object = object
  if (answer.status === 422) return compareCauses(errors, causes as FieldError[])
  if (errors.length > 0) return `refused: ${texts(errors)}`
  const old = target.name === undefined ? undefined : stored.get(storageKey(target, target.name))
  const warnings = target.definition.strategy.warnings?.(freeze(object), old && freeze(structuredClone(old)), context) ?? []
  return compareWarnings(warnings, answer.warning) ?? compareObject(object, target, answer)
}

interface WriteOptions {
  readonly answer: RecordedResponse
  readonly context: StrategyContext
}

function create(step: Step, target: Target, { answer, context }: WriteOptions): Result {
  const { strategy, kind } = target.definition
  const object = prepared(readBody(step, target), target)
  const metadata = (object as ApiObject).metadata
  if (!metadata.name && metadata.generateName) metadata.name = generateName(metadata.generateName, context.random)
  metadata.uid = 'u'
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  runPreparation(strategy.prepareForCreate?.(object as ApiObject, context))
  if (kind.kind === 'Service') {
    const network = { ranges: ['10.0.0.0/16'], nodePorts: { from: 30_000, to: 32_767 } }
    const errors = allocateService(object as never, undefined, { network, use: serviceUse([]), context })
    if (errors.length > 0) return { errors, object }
  }
  admit(object, answer)
  const errors = runValidation(strategy.validate?.(freeze(structuredClone(object)), context))
  if (errors.length === 0) runAtOnce(strategy.canonicalize?.(object as ApiObject, context) ?? done)
  return { object, errors: errors.length > 0 ? errors : validateObjectMeta(metadata, commonRules(target)) }
}

const keptMetadata = [
  'resourceVersion',
  'uid',
  'creationTimestamp',
  'generation',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
]

function update(step: Step, target: Target, { answer, context, old }: WriteOptions & { readonly old: Json | undefined }): Result {
  const changed = old && change(step, target, old)
  if (old === undefined || changed === undefined) return undefined
  const { strategy } = target.definition
  const object = prepared(changed, target)
  const metadata = object.metadata as Json
  for (const member of keptMetadata) {
    const value = (old.metadata as Json)[member]
    const given = (member === 'uid' || member === 'deletionGracePeriodSeconds') && isSet(metadata[member])
    if (value !== undefined && !given) metadata[member] = value
  }
  const sub = target.subresource === '' ? undefined : strategy.subresources?.[target.subresource]
  if (target.subresource !== '' && sub === undefined) return undefined
  const frozen = freeze(old)
  if (sub === undefined) {
    runPreparation(strategy.prepareForUpdate?.(object as ApiObject, frozen, context))
    admit(object, answer)
  } else runPreparation(sub.prepareForUpdate(object as ApiObject, frozen, context))
  const current = (object as ApiObject).metadata
  const common = [
    ...validateObjectMeta(current, commonRules(target)),
    ...validateObjectMetaUpdate(current, (old as ApiObject).metadata),
  ]
  const { validateUpdate } = sub ?? strategy
  const errors = [...common, ...runValidation(validateUpdate?.(freeze(structuredClone(object)), frozen, context))]
  if (errors.length === 0) runAtOnce(strategy.canonicalize?.(object as ApiObject, context) ?? done)
  return { object, errors }
}

function readBody(step: Step, target: Target): Json {
  if (typeof step.body !== 'object' || step.body === null) throw new DecodeError({ code: 'Type', message: 'not JSON' })
  const { kind } = target.definition
  const body = step.body as Json
  return decode<Json>(kind.type(), {
    ...body,
    apiVersion:
      target.definition.group === '' ? target.definition.version : `${target.definition.group}/${target.definition.version}`,
    kind: kind.kind,
  }).object
}

/** Defaulted and converted to the storage version. */
function prepared(object: Json, target: Target): Json {
  const { definition } = target
  let result = structuredClone(applyDefaults(definition.kind.type(), object))
  if (definition.toStorage !== undefined) result = structuredClone(definition.toStorage(result as never)) as unknown as Json
  runPreparation(definition.strategy.defaults?.(result as ApiObject, definition.version, stockProfile))
  if (target.namespace === undefined) delete (result.metadata as Json).namespace
  else (result.metadata as Json).namespace = target.namespace
  return result
}

/** Adds what the recorded response has beyond our object, as admission plugins do. */
function admit(object: Json, answer: RecordedResponse): void {
  const spec = answer.body?.spec as Json | undefined
  const own = object.spec as Json | undefined
  if (answer.body?.kind === 'Pod' && own !== undefined) {
    for (const name of admitted)
      if (spec !== undefined && spec[name] !== undefined && spec[name] !== '<masked>') own[name] = spec[name]
  }
  if (object.kind === 'Pod' && own !== undefined && own.serviceAccountName === undefined) own.serviceAccountName = 'default'
}

function change(step: Step, target: Target, old: Json): Json | undefined {
  const { definition } = target
  const type = definition.kind.type()
  if (step.method === 'PUT') return readBody(step, target)
  const served = definition.fromStorage === undefined ? old : (definition.fromStorage(old as never) as unknown as Json)
  const media = step.headers?.['content-type'] ?? ''
  if (media === 'application/merge-patch+json') return decode<Json>(type, merge(structuredClone(served), step.body)).object
  if (media === 'application/strategic-merge-patch+json' && isPlainMerge(step.body)) {
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

function compareObject(object: Json, target: Target, answer: RecordedResponse): Outcome {
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

/** Stores the recorded object, filling what the recording masks. */
export function remember(step: Step, target: Target, { answer, stored, made }: Replay): void {
  const { definition } = target
  const body = answer.body
  const held = target.name === undefined ? undefined : stored.get(storageKey(target, target.name))
  if (
    step.method === 'DELETE' &&
    held !== undefined &&
    step.query?.dryRun === undefined &&
    (body?.status === 'Success' || (answer.status ?? 500) < 300)
  ) {
    const { deletionTimestamp = '2020-01-02T03:04:05Z' } = held.metadata as Json
    const metadata = { ...(held.metadata as Json), deletionTimestamp, deletionGracePeriodSeconds: 0 }
    stored.set(storageKey(target, target.name as string), { ...held, metadata })
  }
  if (step.query?.dryRun !== undefined || body === undefined || typeof body !== 'object' || body.kind !== definition.kind.kind)
    return
  const named = isJsonObject(body.metadata) ? body.metadata : ((made.object?.metadata ?? {}) as Json)
  const name = target.name ?? (named.name as string | undefined)
  if (name === undefined || open.has(name)) return
  const before = stored.get(storageKey(target, name))
  const request = step.method === 'POST' && typeof step.body === 'object' ? (step.body as Json) : undefined
  const whole = fill(body, made.object ?? before ?? request) as Json
  const metadata = isJsonObject(whole.metadata) ? whole.metadata : (((made.object ?? before ?? request)?.metadata ?? {}) as Json)
  whole.metadata = { ...metadata, name, resourceVersion: '1', uid: 'u' }
  delete (whole.metadata as Json).managedFields
  try {
    const decoded = decode<Json>(definition.kind.type(), timed(whole)).object
    stored.set(storageKey(target, name), prepared(decoded, target))
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
  }
}
