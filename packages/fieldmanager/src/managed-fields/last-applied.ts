import { isJsonObject, type JsonObject, type JsonValue, setMember, stockProfile } from '@krmkit/meta'
import { maxAnnotationsSize } from '@krmkit/meta/validation'
import { FieldManagerError } from '../field-manager-error.ts'
import type { FieldSet } from '../fieldpath/field-set.ts'
import { compareTyped } from '../typed/compare.direct.ts'
import { fieldSetOf } from '../typed/field-set-of.ts'
import type { TypeRef } from '../typed/types.ts'
import { validateValue } from '../typed/validate.direct.ts'
import { canonicalJson, parseJsonText } from '../value/json.ts'

/**
 * Annotation in which client-side apply stores the applied configuration. For server-side apply by kubectl, the annotation lists the fields
 * to take over, and is kept up to date.
 */
export const lastAppliedAnnotation = `kubectl.${stockProfile.domain}/last-applied-configuration`

/** Manager name of kubectl, for which the annotation is honored. */
export const lastAppliedManager = 'kubectl'

/** The value of the annotation; empty when absent. */
export function lastApplied(object: JsonObject, annotation: string): string {
  const annotations = annotationsOf(object)
  const text = annotations !== undefined && Object.hasOwn(annotations, annotation) ? annotations[annotation] : undefined
  return typeof text === 'string' ? text : ''
}

/**
 * The fields that kubectl takes over without force: those whose value in the annotation still equals the live value. `undefined` when the
 * annotation is absent or unusable.
 */
export function takeoverSet(live: JsonObject, type: TypeRef, apiVersion: string, annotation: string): FieldSet | undefined {
  const text = lastApplied(live, annotation)
  if (text === '') return undefined
  try {
    const applied = parseJsonText(text)
    if (!isJsonObject(applied) || applied.apiVersion !== apiVersion || validateValue(applied, type).length > 0) return undefined
    const { added, modified, removed } = compareTyped(applied, live, type)
    return fieldSetOf(applied, type).difference(modified).difference(added).difference(removed)
  } catch (error) {
    if (error instanceof FieldManagerError) return undefined
    throw error
  }
}

/** The object with an updated annotation, or without it when annotations would exceed their size limit. */
export function withLastApplied(object: JsonObject, applied: JsonObject, annotation: string): JsonObject {
  const annotations: JsonObject = { ...annotationsOf(object) }
  annotations[annotation] = `${canonicalJson(withoutAnnotation(applied, annotation))}\n`
  if (sizeOf(annotations) > maxAnnotationsSize) delete annotations[annotation]
  return { ...object, metadata: { ...(object.metadata as JsonObject), annotations } }
}

function withoutAnnotation(applied: JsonObject, annotation: string): JsonValue {
  const annotations = annotationsOf(applied)
  if (annotations === undefined) return applied
  const rest: JsonObject = {}
  for (const key of Object.keys(annotations)) if (key !== annotation) setMember(rest, key, annotations[key] as JsonValue)
  return { ...applied, metadata: { ...(applied.metadata as JsonObject), annotations: rest } }
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = object.metadata
  const annotations = isJsonObject(metadata) ? metadata.annotations : undefined
  return isJsonObject(annotations) ? annotations : undefined
}

function sizeOf(annotations: JsonObject): number {
  const encoder = new TextEncoder()
  let size = 0
  for (const [key, value] of Object.entries(annotations))
    size += encoder.encode(key).length + encoder.encode(String(value)).length
  return size
}
