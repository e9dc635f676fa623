/** Metadata and generation of built-in kinds. */

import { memberCountOfLargeMap, memberNames, type Work } from '@krmkit/base/work'
import { type ApiObject, type DeepReadonly, type FieldError, type NameRule, nameRules } from '@krmkit/meta'
import * as paced from '@krmkit/meta/paced'
import {
  validateBuiltInObjectMeta,
  validateBuiltInObjectMetaUpdate,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@krmkit/meta/validation'
import { done } from '../../preparation.ts'
import { copy, keep } from './copies.ts'
import { deepEqual, semanticEqual } from './equality.ts'
import type { ContextErrorList } from './field-path.ts'
import { isSet } from './values.ts'

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
export function validateMetadata(object: DeepReadonly<ApiObject>, errors: ContextErrorList, rules: MetadataRules): Work {
  const { namespaced, name = nameRules.dns1123Subdomain, bareFinalizers = false } = rules
  const { metadata } = object
  if (isLarge(metadata)) {
    const validate = bareFinalizers ? paced.validateObjectMeta : paced.validateBuiltInObjectMeta
    return addErrorsOf(errors, validate(metadata, { namespaced, name }))
  }
  const validate = bareFinalizers ? validateObjectMeta : validateBuiltInObjectMeta
  errors.add(validate(metadata, { namespaced, name }))
  return done
}

/** Labels or annotations above which metadata are validated in steps. */
const manyEntries = 64

/** As `isLargeMetadata`, without an enumeration of large maps that were decoded. */
function isLarge({ labels, annotations }: DeepReadonly<ApiObject>['metadata']): boolean {
  return hasManyEntries(labels) || hasManyEntries(annotations)
}

function hasManyEntries(map: object | null | undefined): boolean {
  return isSet(map) && (memberCountOfLargeMap(map) !== undefined || memberNames(map).length > manyEntries)
}

function* addErrorsOf(errors: ContextErrorList, validation: Work<FieldError[]>): Work {
  // That the metadata are large may have been found by enumerating them, which takes long.
  yield true
  errors.add(yield* validation)
}

/** Validates `metadata` of an updated object, as `validateMetadata` does. */
export function validateMetadataUpdate(
  object: DeepReadonly<ApiObject>,
  old: DeepReadonly<ApiObject>,
  errors: ContextErrorList,
  { bareFinalizers = false }: FinalizerRules = {},
): Work {
  const { metadata } = object
  if (isLarge(metadata)) {
    const validate = bareFinalizers ? paced.validateObjectMetaUpdate : paced.validateBuiltInObjectMetaUpdate
    return addErrorsOf(errors, validate(metadata, old.metadata))
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
export function* raiseGeneration(object: ApiObject, old: DeepReadonly<ApiObject>, ...members: readonly string[]): Work {
  let changed = false
  for (const member of members) changed ||= !(yield* semanticEqual(object[member], old[member]))
  settleGeneration(object, old, changed)
}

/** As `raiseGeneration`, for kinds where an empty list or map in `member` differs from an absent one. */
export function* raiseGenerationExactly(object: ApiObject, old: DeepReadonly<ApiObject>, member: string): Work {
  settleGeneration(object, old, !(yield* deepEqual(object[member], old[member])))
}

/** Raises the generation of the stored object, or keeps it. */
export function settleGeneration(object: ApiObject, old: DeepReadonly<ApiObject>, changed: boolean): void {
  const before = old.metadata.generation
  if (changed) object.metadata.generation = (before ?? 0) + 1
  else if (before === undefined) delete object.metadata.generation
  else object.metadata.generation = before
}

/** Restores these members from the stored object. */
export function* keepMembers(object: ApiObject, old: DeepReadonly<ApiObject>, ...members: readonly string[]): Work {
  for (const member of members) {
    if (old[member] === undefined) delete object[member]
    else object[member] = yield* copy(old[member])
  }
}

const statusMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'generation', 'deletionTimestamp'] as const

/** Restores the metadata that a write to `/status` may not change. */
export function* resetStatusMetadata(object: ApiObject, old: DeepReadonly<ApiObject>): Work {
  for (const member of statusMetadata)
    yield* keep(object.metadata as Record<string, unknown>, old.metadata as Readonly<Record<string, unknown>>, member)
}
