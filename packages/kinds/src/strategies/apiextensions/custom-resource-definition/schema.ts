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
