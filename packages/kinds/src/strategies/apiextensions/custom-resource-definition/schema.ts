import type { DeepReadonly } from '@krmkit/meta'
import type { JSONSchemaProps } from '../../../types/apiextensions-v1.generated.ts'

/** `openAPIV3Schema` of a version, or a part of it. */
export type Schema = DeepReadonly<JSONSchemaProps>

/** Validation of a schema, which may be large: it can be interrupted at each yield. @see runInSlices */
export type Steps<T = void> = Generator<unknown, T>

/** The names of properties, in the order of their errors. */
export function* sortedNames(properties: object | null | undefined): Steps<readonly string[]> {
  const names = Object.keys(properties ?? {})
  if (names.length > manyNames) yield true
  names.sort()
  if (names.length > manyNames) yield true
  return names
}

const manyNames = 1000

/** Removes `items` that are null: neither a schema nor a list of schemas was sent. Stored schemas have none. */
export function dropNullItems(schema: JSONSchemaProps | null | undefined): void {
  if (typeof schema !== 'object' || schema === null) return
  const { items, additionalProperties, not, allOf, anyOf, oneOf, properties } = schema
  if (items === null) delete schema.items
  const single = [items, additionalProperties, not] as (JSONSchemaProps | undefined)[]
  for (const inner of [...single, ...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? []), ...Object.values(properties ?? {})])
    dropNullItems(inner)
}
