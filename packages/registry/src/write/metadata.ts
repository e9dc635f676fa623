import type { Work } from '@krmkit/base/work'
import { type ResourceDefinition, type StrategyContext, type ValidatedWrite, validationWork } from '@krmkit/kinds'
import {
  ApiError,
  type ApiObject,
  type DeepReadonly,
  type Features,
  type FieldError,
  field,
  formatTime,
  type NameRule,
  nameRules,
  Path,
} from '@krmkit/meta'
import { goQuote, goText } from '@krmkit/meta/go-text'
import * as paced from '@krmkit/meta/paced'
import { isLargeMetadata, validateObjectMeta, validateObjectMetaUpdate } from '@krmkit/meta/validation'
import type { FrozenObject, RegistryEnvironment, WriteContext } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'
import { unstorableName } from '../keys.ts'
import { toVersion } from '../versions/to-version.ts'

/** Metadata rules of all kinds, which run before and after those of the strategy. */

/** Length of a generated suffix, and maximum length of the prefix before it. */
const suffixLength = 5
const maxGeneratedPrefix = 63 - suffixLength

/** The context of a request that strategies receive. */
export function strategyContext({ environment, reader, definition }: StoreInternals, context: WriteContext): StrategyContext {
  const { group, version } = definition
  const { clock, random, profile, features, allowPrivileged = false, requestSignatureError } = environment
  const { user, warn, dryRun, sent, statedType } = context
  const services = { clock, random, profile, features, allowPrivileged, requestSignatureError }
  return { objects: reader, ...services, user, requestVersion: { group, version }, dryRun, warn, sent, statedType }
}

/** A copy whose metadata may be mutated. The copy shares its other members with `object`. */
export function copyMetadata(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata } }
}

/**
 * Removes metadata that only the server sets, such as uid and creationTimestamp, from the sent object; runs before ownership is recorded.
 * As on kube-apiserver, a PUT or an apply may create an object with a deletionTimestamp: the next write removes this object, unless it has
 * finalizers.
 */
export function wipeSystemMetadata(object: ApiObject, { keepsDeletion }: { readonly keepsDeletion: boolean }): void {
  for (const member of keepsDeletion ? assignedMembers : systemMembers) {
    if (!(member in object.metadata)) continue
    object.metadata = withoutSystemMembers(object.metadata, keepsDeletion)
    return
  }
}

/** Returns a copy, because V8 is slow with objects from which a member was deleted. */
function withoutSystemMembers(metadata: ApiObject['metadata'], keepsDeletion: boolean): ApiObject['metadata'] {
  const { uid: _, creationTimestamp: __, ...kept } = metadata
  if (keepsDeletion) return kept
  const { deletionTimestamp: ___, deletionGracePeriodSeconds: ____, selfLink: _____, ...rest } = kept
  return rest
}

const assignedMembers = ['uid', 'creationTimestamp'] as const
const systemMembers = [...assignedMembers, 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'] as const

/** Deletes a member that most objects lack. Deleting an absent member costs as much as deleting one that exists, so it is looked up first. */
export function dropMember(
  metadata: ApiObject['metadata'],
  member: 'generation' | 'namespace' | 'resourceVersion' | 'selfLink',
): void {
  if (member in metadata) delete metadata[member]
}

/** Sets the metadata that the server assigns to a new object. @see API protocol specification, 2.2 */
export function fillNewMetadata(object: ApiObject, environment: RegistryEnvironment, definition: ResourceDefinition): void {
  const { metadata } = object
  metadata.uid = environment.random.uuid()
  metadata.creationTimestamp = formatTime(environment.clock.now())
  if (!definition.kind.namespaced) dropMember(metadata, 'namespace')
}

/** `prefix` and a random suffix, truncated to the length of a DNS label. */
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
 * import { assignNamespace } from '@krmkit/registry'
 * const configMaps = createCatalog().resource({ group: '', version: 'v1', resource: 'configmaps' })!
 * const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' } }
 * assignNamespace(object, 'shop', configMaps)
 * object.metadata.namespace // 'shop'
 */
export function assignNamespace(object: ApiObject, namespace: string, definition: ResourceDefinition): void {
  const requested = object.metadata.namespace ?? ''
  if (!definition.kind.namespaced) {
    dropMember(object.metadata, 'namespace')
    return
  }
  if (requested !== '' && requested !== namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  object.metadata.namespace = namespace
}

/** Carries over metadata that an update may omit, and restores metadata that an update cannot change; runs before validation. */
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

/** Clients match this text to detect a lost race. */
export const optimisticLockMessage = 'the object has been modified; please apply your changes to the latest version and try again'

/**
 * Optimistic concurrency of updates: checks the resourceVersion of an update against the stored one. An update without a version takes the
 * stored one where its kind allows unconditional updates.
 *
 * @throws ApiError 400 for a malformed version, 409 for a different version, 422 for a missing version that the kind requires.
 */
export function checkResourceVersion(
  { group, resource, strategy }: ResourceDefinition,
  name: string,
  { next, current, features }: { readonly next: ApiObject; readonly current: FrozenObject; readonly features?: Features },
): void {
  const version = next.metadata.resourceVersion ?? ''
  if (version === '' || version === '0') {
    if (strategy.allowUnconditionalUpdate === false) {
      const place = Path.of('metadata').child('resourceVersion')
      // As on kube-apiserver, the error names the resource instead of the kind.
      const error = field.invalid(place, goText('0x0'), 'must be specified for an update')
      throw ApiError.invalid({ group, kind: resource.name }, name, [error], features)
    }
    next.metadata.resourceVersion = current.metadata.resourceVersion ?? ''
    return
  }
  requireVersionNumber(version)
  if (version !== current.metadata.resourceVersion) {
    throw ApiError.conflict({ group, resource: resource.name }, name, optimisticLockMessage)
  }
}

/** @throws ApiError 400 for a version that is not a number. An object that an update creates may have any number. */
export function requireVersionNumber(version = ''): void {
  if (version === '' || /^[0-9]+$/.test(version)) return
  const quoted = goQuote(version)
  throw ApiError.badRequest(
    `metadata.resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`,
  )
}

/** Whether an update removes a terminating object: no finalizers are left and the grace period is zero. */
export function mayRemoveAfterUpdate(definition: ResourceDefinition, next: FrozenObject, current: FrozenObject): boolean {
  if (current.metadata.deletionTimestamp === undefined || (next.metadata.finalizers ?? []).length > 0) return false
  const { strategy } = definition
  if (strategy.pendingFinalizers !== undefined) return strategy.pendingFinalizers(next).length === 0
  return (current.metadata.deletionGracePeriodSeconds ?? 0) === 0
}

const anyName = { name: nameRules.pathSegment }

/** The metadata rules of every new object; they run after those of the strategy. */
export function* validateNewMetadata({ metadata }: FrozenObject, { kind }: ResourceDefinition): Work<FieldError[]> {
  const rules = { namespaced: kind.namespaced, name: newName }
  if (!isLargeMetadata(metadata)) return validateObjectMeta(metadata, rules)
  // Finding out that the metadata is large has enumerated it, which takes time.
  yield true
  return yield* paced.validateObjectMeta(metadata, rules)
}

/** Differs: kube-apiserver accepts path segments of any length and with NUL characters, which cannot be part of a storage key here. */
const newName: NameRule = (name, prefix) => {
  const problems = nameRules.pathSegment(name, prefix)
  return problems.length > 0 ? problems : unstorableName(name)
}

/** The metadata rules of every update; they run before those of the strategy. */
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
  const errors = yield* paced.validateObjectMeta(metadata, rules)
  yield true
  return [...errors, ...(yield* paced.validateObjectMetaUpdate(metadata, current.metadata))]
}

/** Validates by the strategy. A kind without `validate` gets only the metadata rules, and its name must be a DNS subdomain. */
export function validateByStrategy(
  object: FrozenObject,
  definition: ResourceDefinition,
  context: StrategyContext,
): Work<FieldError[]> {
  const { strategy, kind } = definition
  if (strategy.validate !== undefined) return validationWork(strategy.validate(object, context))
  return paced.validateObjectMeta(object.metadata, { namespaced: kind.namespaced, name: nameRules.dns1123Subdomain })
}

/** Like `validateByStrategy`, for an update. */
export function* validateUpdateByStrategy(
  next: FrozenObject,
  current: FrozenObject,
  definition: ResourceDefinition,
  context: StrategyContext,
): Work<FieldError[]> {
  const { strategy } = definition
  if (strategy.validateUpdate !== undefined) return yield* validationWork(strategy.validateUpdate(next, current, context))
  const errors = yield* paced.validateObjectMetaUpdate(next.metadata, current.metadata)
  return [...errors, ...(yield* validateByStrategy(next, definition, context))]
}

/** The errors of the strategy, completed by the rules that the release enforces as markers of the type state them. */
export function* completeByMarkers(
  errors: readonly FieldError[],
  definition: ResourceDefinition,
  write: Omit<ValidatedWrite, 'inVersion'>,
): Work<readonly FieldError[]> {
  const { markerRules } = definition
  if (markerRules === undefined) return errors
  const inVersion = (object: DeepReadonly<ApiObject>) => toVersion(object as FrozenObject, definition)
  return yield* markerRules.complete(errors, { ...write, inVersion })
}
