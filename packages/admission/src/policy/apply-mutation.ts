import type { Value } from '@krmkit/cel/values'
import { FieldManagerError, jsonPatch } from '@krmkit/fieldmanager'
import { deducedType, mergeTyped, type TypeRef, validateValue } from '@krmkit/fieldmanager/typed'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { cel } from '@krmkit/schema'
import type { Mutation } from './mutating-policy.ts'

/** Applies what the expressions of a mutating policy evaluate to. */

/** A mutation does not fit the object; the failure policy decides what happens. */
export class MutationError extends Error {}

/**
 * Applies the value of a mutation to an object.
 *
 * @param type type of the object; absent: granular maps and atomic lists.
 * @returns the changed object; the same object when a `test` of a JSON Patch fails.
 * @throws MutationError
 */
export function applyMutation(
  type: Mutation['type'],
  value: Value,
  { object, typeRef = deducedType }: { readonly object: JsonObject; readonly typeRef?: TypeRef | undefined },
): JsonObject {
  return type === 'JSONPatch' ? applyOperations(value, object) : applyConfiguration(value, object, typeRef)
}

function applyOperations(value: Value, object: JsonObject): JsonObject {
  const { engine } = cel()
  try {
    return jsonPatch(object, engine.jsonPatchOperations(value) as JsonValue) as JsonObject
  } catch (error) {
    if (error instanceof RangeError) throw new MutationError(error.message)
    if (!(error instanceof FieldManagerError)) throw error
    if (/failed: test failed$/.test(error.message)) return object
    throw new MutationError(`JSON Patch: ${error.message.replace(/(missing path: )"(.*?)"/, '$1$2')}`)
  }
}

function applyConfiguration(value: Value, object: JsonObject, type: TypeRef): JsonObject {
  const { engine } = cel()
  const wrong = engine.mutationTypeErrors(value)
  if (wrong.length > 0) throw new MutationError(`type mismatch: ${wrong.join('\n')}`)
  const { apiVersion, kind } = object
  const patch = {
    ...(engine.toJson(value) as JsonObject),
    ...(apiVersion === undefined ? {} : { apiVersion, kind }),
  } as JsonObject
  const invalid = validateValue(patch, type)
  if (invalid.length > 0) {
    throw new MutationError(`error applying patch: failed to convert patch object to typed object: ${printed(invalid)}`)
  }
  const atomics = atomicPaths(patch, type, '')
  if (atomics.length > 0) {
    const detail = `may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`
    throw new MutationError(`error applying patch: invalid ApplyConfiguration: ${detail}`)
  }
  try {
    return mergeTyped(object, patch, type) as JsonObject
  } catch (error) {
    if (error instanceof FieldManagerError)
      throw new MutationError(`error applying patch: failed to merge patch: ${error.message}`)
    throw error
  }
}

/** Several errors as kube-apiserver prints them. */
function printed(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] ?? '') : `errors:\n${errors.map((each) => `  ${each}`).join('\n')}`
}

/** Paths of the atomic lists and maps in a configuration, which it would replace as a whole. */
function atomicPaths(value: JsonValue | undefined, { atom }: TypeRef, path: string): string[] {
  if (isJsonObject(value) && atom.map !== undefined) {
    const { fields, items, atomic } = atom.map
    const inside = Object.entries(value).flatMap(([name, member]) => {
      const type = fields.get(name)?.type ?? items
      return type === undefined ? [] : atomicPaths(member, type, `${path}.${name}`)
    })
    return atomic ? [path, ...inside] : inside
  }
  if (Array.isArray(value) && atom.list !== undefined) {
    const { items, atomic } = atom.list
    const inside = value.flatMap((item, index) => atomicPaths(item, items, `${path}[${index}]`))
    return atomic ? [path, ...inside] : inside
  }
  return []
}
