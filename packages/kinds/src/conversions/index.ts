import type { ApiObject, DeepReadonly, GroupVersionKind } from '@krmkit/meta'
import { apiVersionOf } from '../catalog/names.ts'

/** A function that translates objects of one version of a kind to another. */
export type Convert = (object: DeepReadonly<ApiObject>) => ApiObject

/** The translation between two versions of a kind; the argument is never changed. */
export function conversionBetween(_from: GroupVersionKind, to: GroupVersionKind): Convert {
  const apiVersion = apiVersionOf(to)
  return (object) => ({ ...(object as ApiObject), apiVersion })
}
