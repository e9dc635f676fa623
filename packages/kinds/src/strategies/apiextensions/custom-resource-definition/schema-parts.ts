import type { Work } from '@krmkit/base/work'
import { isJsonObject } from '@krmkit/meta'
import type { Schema } from './schema.ts'

/** Questions about a schema and all schemas in it. */

/** Whether a value in the schema has a default. */
export function* hasDefaults(schema: Schema | undefined): Work<boolean> {
  yield
  if (schema === undefined) return false
  if (schema.default !== undefined && schema.default !== null) return true
  for (const inner of [...junctorsOf(schema), ...membersOf(schema)]) if (yield* hasDefaults(inner)) return true
  return false
}

const unsupported = ['id', '$schema', '$ref', 'patternProperties', 'dependencies', 'additionalItems', 'definitions'] as const

/** Why kube-apiserver cannot read the schema as a structural one. */
export function* structuralProblem(schema: Schema): Work<string | undefined> {
  yield
  const keyword = unsupported.find((name) => (name === 'additionalItems' ? schema[name] !== undefined : isGiven(schema[name])))
  if (keyword !== undefined) return `OpenAPIV3Schema '${keyword === '$schema' ? 'schema' : keyword}' is not supported`
  const junctors = yield* firstProblem(junctorsOf(schema))
  if (junctors !== undefined) return junctors
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  if (Array.isArray(schema.items) && schema.items.length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  return yield* firstProblem(membersOf(schema))
}

function* firstProblem(schemas: readonly Schema[]): Work<string | undefined> {
  for (const schema of schemas) {
    const problem = yield* structuralProblem(schema)
    if (problem !== undefined) return problem
  }
  return undefined
}

function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

function junctorsOf({ not, allOf, anyOf, oneOf }: Schema): readonly Schema[] {
  return [...single(not), ...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? [])]
}

function membersOf({ items, properties, additionalProperties }: Schema): readonly Schema[] {
  return [...single(items), ...Object.values(properties ?? {}), ...single(additionalProperties)]
}

function single(part: unknown): readonly Schema[] {
  return isJsonObject(part) ? [part as Schema] : []
}
