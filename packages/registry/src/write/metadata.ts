import { type ResourceDefinition, type StrategyContext, validationSteps } from '@krmkit/kinds'
import { ApiError, type ApiObject, type FieldError, formatTime, type NameRule, nameRules } from '@krmkit/meta'
import {
  isLargeMetadata,
  validateObjectMeta,
  validateObjectMetaSteps,
  validateObjectMetaUpdate,
  validateObjectMetaUpdateSteps,
} from '@krmkit/meta/validation'
import type { Work } from '@krmkit/meta/work'
import type { FrozenObject, RegistryEnvironment, WriteContext } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'
import { unstorableName } from '../keys.ts'

/** Metadata rules of all kinds, which run before and after those of the strategy. */

/** Length of a generated suffix, and of the longest prefix before it. */
const suffixLength = 5
const maxGeneratedPrefix = 63 - suffixLength

export function strategyContext({ environment, reader, definition }: StoreInternals, context: WriteContext): StrategyContext {
  const { group, version } = definition
  const { clock, random, profile, features, allowPrivileged = false, requestSignatureError } = environment
  const { user, warn, dryRun, sent, statedType } = context
  const given = { clock, random, profile, features, allowPrivileged, requestSignatureError }
  return { objects: reader, ...given, user, requestVersion: { group, version }, dryRun, warn, sent, statedType }
}

/** A draft owns its metadata, even where it shares the rest with another object. */
export function ownMetadata(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata } }
}

/**
 * Removes what clients sent for members that only the server sets; runs before ownership is recorded. As on kube-apiserver, an object that
 * a PUT or an apply creates may be marked as being deleted from the start: the next write removes it, unless it has finalizers.
 */
export function wipeSystemMetadata(object: ApiObject, { keepsDeletion }: { readonly keepsDeletion: boolean }): void {
  for (const member of keepsDeletion ? assignedMembers : systemMembers) {
    if (!(member in object.metadata)) continue
    object.metadata = withoutSystemMembers(object.metadata, keepsDeletion)
    return
  }
}

/** A copy: an object of which a member was deleted is slow to use. */
function withoutSystemMembers(metadata: ApiObject['metadata'], keepsDeletion: boolean): ApiObject['metadata'] {
  const { uid: _, creationTimestamp: __, ...kept } = metadata
  if (keepsDeletion) return kept
  const { deletionTimestamp: ___, deletionGracePeriodSeconds: ____, selfLink: _____, ...rest } = kept
  return rest
}

const assignedMembers = ['uid', 'creationTimestamp'] as const
const systemMembers = [...assignedMembers, 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'] as const

/** Deletes a member that is mostly absent: deleting costs as much then, unless it is found out before. */
export function dropMember(
  metadata: ApiObject['metadata'],
  member: 'generation' | 'managedFields' | 'namespace' | 'resourceVersion' | 'selfLink',
): void {
  if (member in metadata) delete metadata[member]
}

/** Sets the metadata that the server assigns to a new object; @see API protocol specification, 2.2. */
export function fillNewMetadata(object: ApiObject, environment: RegistryEnvironment, definition: ResourceDefinition): void {
  const { metadata } = object
  metadata.uid = environment.random.uuid()
  metadata.creationTimestamp = formatTime(environment.clock.now())
  if (!definition.kind.namespaced) dropMember(metadata, 'namespace')
}

/** `prefix` + random suffix, short enough for a DNS label. */
export function generatedName(prefix: string, environment: RegistryEnvironment): string {
  return prefix.slice(0, maxGeneratedPrefix) + environment.random.nameSuffix(suffixLength)
}

/**
 * Sets the namespace of the request on the object.
 *
 * @throws ApiError 400 when the body names another one.
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import type { ApiObject } from '@krmkit/meta'
 * import { takeNamespace } from '@krmkit/registry'
 * const configMaps = createCatalog().resource({ group: '', version: 'v1', resource: 'configmaps' })!
 * const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' } }
 * takeNamespace(object, 'shop', configMaps)
 * object.metadata.namespace // 'shop'
 */
export function takeNamespace(object: ApiObject, namespace: string, definition: ResourceDefinition): void {
  const given = object.metadata.namespace ?? ''
  if (!definition.kind.namespaced) {
    dropMember(object.metadata, 'namespace')
    return
  }
  if (given !== '' && given !== namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  object.metadata.namespace = namespace
}

/** Carries over metadata that an update may omit, and restores what it cannot change; runs before validation. */
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
  if (!definition.kind.namespaced) dropMember(metadata, 'namespace')
  if (old.generation === undefined) dropMember(metadata, 'generation')
  else metadata.generation = old.generation
}

const anyName = { name: nameRules.pathSegment }

/** Metadata rules of every new object, with pauses; run after those of the strategy. */
export function* validateNewMetadata({ metadata }: FrozenObject, { kind }: ResourceDefinition): Work<FieldError[]> {
  const rules = { namespaced: kind.namespaced, name: newName }
  if (!isLargeMetadata(metadata)) return validateObjectMeta(metadata, rules)
  // That they are large was found by enumerating them, which takes long.
  yield true
  return yield* validateObjectMetaSteps(metadata, rules)
}

/** Differs: the stock server takes path segments of any length and with zero characters, which cannot be storage keys here. */
const newName: NameRule = (name, prefix) => {
  const problems = nameRules.pathSegment(name, prefix)
  return problems.length > 0 ? problems : unstorableName(name)
}

/** Metadata rules of every update, with pauses; run before those of the strategy. */
export function* validateUpdatedMetadata(
  next: FrozenObject,
  current: FrozenObject,
  definition: ResourceDefinition,
): Work<FieldError[]> {
  const { metadata } = next
  const rules = { namespaced: definition.kind.namespaced, ...anyName }
  if (!isLargeMetadata(metadata))
    return [...validateObjectMeta(metadata, rules), ...validateObjectMetaUpdate(metadata, current.metadata)]
  yield true
  const errors = yield* validateObjectMetaSteps(metadata, rules)
  yield true
  return [...errors, ...(yield* validateObjectMetaUpdateSteps(metadata, current.metadata))]
}

/**
 * Validates by the strategy, with pauses where it has them. A kind without `validate` has the metadata rules and a DNS
 * subdomain as its name.
 */
export function validateByStrategy(
  object: FrozenObject,
  definition: ResourceDefinition,
  context: StrategyContext,
): Work<FieldError[]> {
  const { strategy, kind } = definition
  if (strategy.validate !== undefined) return validationSteps(strategy.validate(object, context))
  return validateObjectMetaSteps(object.metadata, { namespaced: kind.namespaced, name: nameRules.dns1123Subdomain })
}

/** As `validateByStrategy`, for an update. */
export function* validateUpdateByStrategy(
  next: FrozenObject,
  current: FrozenObject,
  definition: ResourceDefinition,
  context: StrategyContext,
): Work<FieldError[]> {
  const { strategy } = definition
  if (strategy.validateUpdate !== undefined) return yield* validationSteps(strategy.validateUpdate(next, current, context))
  const errors = yield* validateObjectMetaUpdateSteps(next.metadata, current.metadata)
  return [...errors, ...(yield* validateByStrategy(next, definition, context))]
}
