import { parseApiVersion } from '@krmkit/meta'
import type { ManifestDocument } from '@krmkit/schema/manifest'
import { type ManifestObject, nameOf, type OfflineKinds, objectsOf, shapeOf, type ValueShape } from 'krmkit/validate'

/** The types of the objects of a text. */

/** The shape of a kind; undefined for unknown ones. */
export function shapeOfKind(apiVersion: string, kind: string, kinds: OfflineKinds): ValueShape | undefined {
  if (apiVersion === '' || kind === '' || apiVersion.split('/').length > 2) return undefined
  const type = kinds.typeOf({ ...parseApiVersion(apiVersion), kind })
  return type === undefined ? undefined : shapeOf(type)
}

/** An object with the steps that lead to it. */
export interface PlacedObject {
  readonly object: ManifestObject
  readonly steps: readonly (string | number)[]
}

/** The object of a document that a path leads into. */
export function objectAround(document: ManifestDocument, steps: readonly (string | number)[]): PlacedObject | undefined {
  return objectsOf(document)
    .map((object) => ({ object, steps: document.steps(object.at) }))
    .find((each) => each.steps.length <= steps.length && each.steps.every((step, index) => step === steps[index]))
}

/** The shape of an object; undefined for unknown kinds. */
export function shapeOfObject(object: ManifestObject, kinds: OfflineKinds): ValueShape | undefined {
  const { apiVersion, kind } = nameOf(object)
  return shapeOfKind(apiVersion, kind, kinds)
}
