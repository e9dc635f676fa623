import type { ResourceDefinition, StrategyContext } from '@krmkit/kinds'
import {
  ApiError,
  type ApiObject,
  type FieldError,
  formatTime,
  type NameRule,
  nameRules,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@krmkit/meta'
import type { FrozenObject, RegistryEnvironment, WriteContext } from './interfaces.ts'
import { unstorableName } from './keys.ts'

/** The rules that hold for the metadata of every kind, around those of the kind's own policy. */

/** Length of a generated suffix, and the longest prefix that it may follow. */
const suffixLength = 5
const maxGeneratedPrefix = 63 - suffixLength

export function strategyContext(
  environment: RegistryEnvironment,
  context: WriteContext,
  { group, version }: ResourceDefinition,
): StrategyContext {
  const { clock, random, profile, features, allowPrivileged = false } = environment
  const { user, warn } = context
  return { clock, random, profile, features, allowPrivileged, user, requestVersion: { group, version }, warn }
}

/** Forgets what clients said about things that the server alone decides; comes before anything is owned. */
export function wipeSystemMetadata(object: ApiObject): void {
  const { metadata } = object
  delete metadata.uid
  delete metadata.creationTimestamp
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
}

/** Fills in what the server alone decides about a new object; @see API protocol specification, 2.2. */
export function fillNewMetadata(object: ApiObject, environment: RegistryEnvironment, definition: ResourceDefinition): void {
  const { metadata } = object
  metadata.uid = environment.random.uuid()
  metadata.creationTimestamp = formatTime(environment.clock.now())
  if (!definition.kind.namespaced) delete metadata.namespace
}

/** `prefix` + random suffix, short enough for a DNS label. */
export function generatedName(prefix: string, environment: RegistryEnvironment): string {
  return prefix.slice(0, maxGeneratedPrefix) + environment.random.nameSuffix(suffixLength)
}

/** The namespace of the request goes onto the object. @throws ApiError 400 when the body names another one. */
export function takeNamespace(object: ApiObject, namespace: string, definition: ResourceDefinition): void {
  const given = object.metadata.namespace ?? ''
  if (!definition.kind.namespaced) {
    delete object.metadata.namespace
    return
  }
  if (given !== '' && given !== namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  object.metadata.namespace = namespace
}

/** What an update may leave out, and what it can never change; runs before validation. */
export function carryOverMetadata(next: ApiObject, current: FrozenObject, definition: ResourceDefinition): void {
  const { metadata } = next
  const old = current.metadata
  if (metadata.uid === undefined || metadata.uid === '') metadata.uid = old.uid ?? ''
  metadata.creationTimestamp = old.creationTimestamp ?? null
  if (old.deletionTimestamp !== undefined) {
    metadata.deletionTimestamp = old.deletionTimestamp
    if (metadata.deletionGracePeriodSeconds === undefined && old.deletionGracePeriodSeconds !== undefined) {
      metadata.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds
    }
  }
  if (!definition.kind.namespaced) delete metadata.namespace
  if (old.generation === undefined) delete metadata.generation
  else metadata.generation = old.generation
  delete metadata.selfLink
}

const anyName = { name: nameRules.pathSegment }

/** The generic layer's own look at a new object, after the kind's. */
export function validateNewMetadata(object: FrozenObject, definition: ResourceDefinition): FieldError[] {
  return validateObjectMeta(object.metadata, { namespaced: definition.kind.namespaced, name: newName })
}

/** Differs: the stock server takes path segments of any length and with zero characters, which are no keys of this storage. */
const newName: NameRule = (name, prefix) => {
  const problems = nameRules.pathSegment(name, prefix)
  return problems.length > 0 ? problems : unstorableName(name)
}

/** The generic layer's own look at an update, before the kind's. */
export function validateUpdatedMetadata(next: FrozenObject, current: FrozenObject, definition: ResourceDefinition): FieldError[] {
  return [
    ...validateObjectMeta(next.metadata, { namespaced: definition.kind.namespaced, ...anyName }),
    ...validateObjectMetaUpdate(next.metadata, current.metadata),
  ]
}

/** Rules of a kind without a policy of its own: metadata with a DNS subdomain as name. */
export function validateByStrategy(object: FrozenObject, definition: ResourceDefinition, context: StrategyContext): FieldError[] {
  const { strategy: policy, kind } = definition
  if (policy.validate !== undefined) return policy.validate(object, context)
  return validateObjectMeta(object.metadata, { namespaced: kind.namespaced, name: nameRules.dns1123Subdomain })
}

export function validateUpdateByStrategy(
  next: FrozenObject,
  current: FrozenObject,
  definition: ResourceDefinition,
  context: StrategyContext,
): FieldError[] {
  const { strategy: policy } = definition
  if (policy.validateUpdate !== undefined) return policy.validateUpdate(next, current, context)
  return [...validateObjectMetaUpdate(next.metadata, current.metadata), ...validateByStrategy(next, definition, context)]
}
