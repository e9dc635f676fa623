/** Metadata of built-in kinds, and the generation that follows their specification. */
import {
  type ApiObject,
  type DeepReadonly,
  type NameRule,
  nameRules,
  validateBuiltInObjectMeta,
  validateObjectMetaUpdate,
} from '@krmkit/meta'
import type { ContextErrorList } from './field-path.ts'
import { copy, keep, semanticEqual } from './values.ts'

export interface MetadataRules {
  readonly namespaced: boolean
  /** A DNS subdomain when absent. */
  readonly name?: NameRule
}

/** Rules of `metadata` for a new object. */
export function validateMetadata(object: DeepReadonly<ApiObject>, errors: ContextErrorList, rules: MetadataRules): void {
  const name = rules.name ?? nameRules.dns1123Subdomain
  errors.add(validateBuiltInObjectMeta(object.metadata, { namespaced: rules.namespaced, name }))
}

/** Rules of `metadata` for a replaced object. */
export function validateMetadataUpdate(
  object: DeepReadonly<ApiObject>,
  old: DeepReadonly<ApiObject>,
  errors: ContextErrorList,
): void {
  errors.add(validateObjectMetaUpdate(object.metadata, old.metadata))
}

/** A new object starts with generation 1. */
export function startGeneration(object: ApiObject): void {
  object.metadata.generation = 1
}

/** Raises the generation when one of `members` has changed. */
export function raiseGeneration(object: ApiObject, old: DeepReadonly<ApiObject>, ...members: string[]): void {
  const before = old.metadata.generation
  const changed = members.some((member) => !semanticEqual(object[member], old[member]))
  if (changed) object.metadata.generation = (before ?? 0) + 1
  else if (before === undefined) delete object.metadata.generation
  else object.metadata.generation = before
}

/** Takes these members of the stored object over, so that the write leaves them as they are. */
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
