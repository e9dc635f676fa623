/** Metadata and generation of built-in kinds. */
import { type ApiObject, type DeepReadonly, type FieldError, type NameRule, nameRules } from '@krmkit/meta'
import {
  isLargeMetadata,
  validateBuiltInObjectMeta,
  validateBuiltInObjectMetaSteps,
  validateBuiltInObjectMetaUpdate,
  validateBuiltInObjectMetaUpdateSteps,
  validateObjectMeta,
  validateObjectMetaSteps,
  validateObjectMetaUpdate,
  validateObjectMetaUpdateSteps,
} from '@krmkit/meta/validation'
import type { ContextErrorList } from './field-path.ts'
import { done, type Steps } from './steps.ts'
import { copy, deepEqual, keep, semanticEqual } from './values.ts'

export interface FinalizerRules {
  /** The kind accepts finalizers without a domain, as those whose validator is not that of the core group do. */
  readonly bareFinalizers?: boolean
}

export interface MetadataRules extends FinalizerRules {
  readonly namespaced: boolean
  /** Default: DNS subdomain. */
  readonly name?: NameRule
}

/** Validates `metadata` of a new object. Those of most objects are validated when the function returns. */
export function validateMetadata(object: DeepReadonly<ApiObject>, errors: ContextErrorList, rules: MetadataRules): Steps {
  const { namespaced, name = nameRules.dns1123Subdomain, bareFinalizers = false } = rules
  const { metadata } = object
  if (isLargeMetadata(metadata)) {
    const validate = bareFinalizers ? validateObjectMetaSteps : validateBuiltInObjectMetaSteps
    return addedSteps(errors, validate(metadata, { namespaced, name }))
  }
  const validate = bareFinalizers ? validateObjectMeta : validateBuiltInObjectMeta
  errors.add(validate(metadata, { namespaced, name }))
  return done
}

function* addedSteps(errors: ContextErrorList, validation: Steps<FieldError[]>): Steps {
  // That the metadata are large was found by enumerating them, which takes long.
  yield true
  errors.add(yield* validation)
}

/** Validates `metadata` of an updated object, as `validateMetadata` does. */
export function validateMetadataUpdate(
  object: DeepReadonly<ApiObject>,
  old: DeepReadonly<ApiObject>,
  errors: ContextErrorList,
  { bareFinalizers = false }: FinalizerRules = {},
): Steps {
  const { metadata } = object
  if (isLargeMetadata(metadata)) {
    const validate = bareFinalizers ? validateObjectMetaUpdateSteps : validateBuiltInObjectMetaUpdateSteps
    return addedSteps(errors, validate(metadata, old.metadata))
  }
  const validate = bareFinalizers ? validateObjectMetaUpdate : validateBuiltInObjectMetaUpdate
  errors.add(validate(metadata, old.metadata))
  return done
}

/** Sets the generation of a new object to 1. */
export function startGeneration(object: ApiObject): void {
  object.metadata.generation = 1
}

/** Raises the generation if one of `members` changed. */
export function raiseGeneration(object: ApiObject, old: DeepReadonly<ApiObject>, ...members: string[]): void {
  settleGeneration(object, old, !members.every((member) => semanticEqual(object[member], old[member])))
}

/** As `raiseGeneration`, for kinds where an empty list or map in `member` differs from an absent one. */
export function raiseGenerationExactly(object: ApiObject, old: DeepReadonly<ApiObject>, member: string): void {
  settleGeneration(object, old, !deepEqual(object[member], old[member]))
}

/** Raises the generation of the stored object, or keeps it. */
export function settleGeneration(object: ApiObject, old: DeepReadonly<ApiObject>, changed: boolean): void {
  const before = old.metadata.generation
  if (changed) object.metadata.generation = (before ?? 0) + 1
  else if (before === undefined) delete object.metadata.generation
  else object.metadata.generation = before
}

/** Restores these members from the stored object. */
export function keepMembers(object: ApiObject, old: DeepReadonly<ApiObject>, ...members: string[]): void {
  for (const member of members) {
    if (old[member] === undefined) delete object[member]
    else object[member] = copy(old[member])
  }
}

const statusMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'generation', 'deletionTimestamp'] as const

/** Restores the metadata that a write to `/status` may not change. */
export function resetStatusMetadata(object: ApiObject, old: DeepReadonly<ApiObject>): void {
  for (const member of statusMetadata)
    keep(object.metadata as Record<string, unknown>, old.metadata as DeepReadonly<Record<string, unknown>>, member)
}
