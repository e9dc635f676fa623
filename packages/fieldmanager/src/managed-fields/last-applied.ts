import { type JsonObject, type JsonValue, maxAnnotationsSize, stockProfile } from '@krmkit/meta'
import { FieldManagerError } from '../errors.ts'
import type { FieldSet } from '../fieldpath/field-set.ts'
import { compareTyped } from '../typed/compare.ts'
import { fieldSetOf } from '../typed/field-set-of.ts'
import type { TypeRef } from '../typed/types.ts'
import { setMember } from '../typed/types.ts'
import { validateValue } from '../typed/validate.ts'
import { canonicalJson, parseJson } from '../value/json.ts'
import { isMap } from '../value/order.ts'

/**
 * The annotation in which client-side apply keeps what it applied, and how server-side apply by the same tool takes over.
 */
export const lastAppliedAnnotation = `kubectl.${stockProfile.domain}/last-applied-configuration`

/** Manager name of the tool whose annotation is honoured. */
export const annotationManager = 'kubectl'

/** What the annotation says, empty when there is none. */
export function lastApplied(object: JsonObject, annotation: string): string {
  const annotations = annotationsOf(object)
  const text = annotations !== undefined && Object.hasOwn(annotations, annotation) ? annotations[annotation] : undefined
  return typeof text === 'string' ? text : ''
}

/**
 * What the tool may take over without force: the fields that the annotation has with the value they have now.
 * `undefined` when the annotation says nothing usable.
 */
export function takeoverSet(live: JsonObject, type: TypeRef, apiVersion: string, annotation: string): FieldSet | undefined {
  const text = lastApplied(live, annotation)
  if (text === '') return undefined
  try {
    const applied = parseJson(text)
    if (!isMap(applied) || applied.apiVersion !== apiVersion || validateValue(applied, type).length > 0) return undefined
    const { added, modified, removed } = compareTyped(applied, live, type)
    return fieldSetOf(applied, type).difference(modified).difference(added).difference(removed)
  } catch (error) {
    if (error instanceof FieldManagerError) return undefined
    throw error
  }
}

/** The object with the annotation brought up to date; without it when annotations would become too large. */
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
  const annotations = isMap(metadata) ? metadata.annotations : undefined
  return isMap(annotations) ? annotations : undefined
}

function sizeOf(annotations: JsonObject): number {
  const encoder = new TextEncoder()
  let size = 0
  for (const [key, value] of Object.entries(annotations))
    size += encoder.encode(key).length + encoder.encode(String(value)).length
  return size
}
