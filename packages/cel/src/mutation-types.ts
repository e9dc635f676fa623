import type { JsonValue } from '@krmkit/meta'
import type { Environment } from './environment.ts'
import { jsonPatchKeys } from './libraries/json-patch.ts'
import { toJson } from './values/json-values.ts'
import { dynType, type ObjectType, opaqueOf, stringType, structOf, type Type } from './values/types.ts'
import { ListValue, MapValue, MessageValue, type Value } from './values/values.ts'

/** Objects that the expressions of mutating policies create: `Object{spec: Object.spec{replicas: 3}}` and `JSONPatch{op: "add", ...}`. */

/** A member table in which every name is a member of dynamic type. */
class AnyMembers extends Map<string, Type> {
  override get(): Type {
    return dynType
  }
  override has(): boolean {
    return true
  }
}

const anyMembers: ReadonlyMap<string, Type> = new AnyMembers()

/** Type of an apply configuration. */
export const applyConfigurationType: ObjectType = structOf('Object', anyMembers)

/** The members of an operation. Any other name has an unnamed type to which no value is assignable. */
class OperationMembers extends Map<string, Type> {
  override get(name: string): Type {
    return super.get(name) ?? opaqueOf('')
  }
}

/** Type of one operation of a JSON Patch. */
export const jsonPatchOperationType: ObjectType = structOf(
  'JSONPatch',
  new OperationMembers([
    ['op', stringType],
    ['path', stringType],
    ['from', stringType],
    ['value', dynType],
  ]),
)

/**
 * The environment with the object types of mutations.
 *
 * @example
 * import { compileExpression, Environment, jsonPatchOperations, mutationEnvironment } from '@krmkit/cel'
 * const environment = mutationEnvironment(Environment.ofRelease('1.33'))
 * const compiled = compileExpression(environment, '[JSONPatch{op: "remove", path: "/spec/paused"}]')
 * if ('problem' in compiled) throw new Error(compiled.problem)
 * jsonPatchOperations(compiled.program.evaluate({}).value ?? null) // [{ op: 'remove', path: '/spec/paused' }]
 */
export function mutationEnvironment(base: Environment): Environment {
  return base.withMessages((name) => {
    if (name === 'JSONPatch') return jsonPatchOperationType
    return name === 'Object' || name.startsWith('Object.') ? structOf(name, anyMembers) : undefined
  }, jsonPatchKeys)
}

/**
 * Reports objects whose type name does not match their path, in the wording of kube-apiserver.
 *
 * @example
 * import { compileExpression, Environment, mutationEnvironment, mutationTypeErrors } from '@krmkit/cel'
 * const environment = mutationEnvironment(Environment.ofRelease('1.33'))
 * const compiled = compileExpression(environment, 'Object{spec: Object{paused: true}}')
 * if ('problem' in compiled) throw new Error(compiled.problem)
 * mutationTypeErrors(compiled.program.evaluate({}).value ?? null).length // 1: `spec` must be an `Object.spec`
 */
export function mutationTypeErrors(value: Value, path = 'Object'): readonly string[] {
  if (value instanceof MessageValue) {
    const own =
      value.structName === path
        ? []
        : [`unexpected type name "${value.structName}", expected "${path}", which matches field name path from root Object type`]
    return [...own, ...[...value.members].flatMap(([name, member]) => mutationTypeErrors(member, `${path}.${name}`))]
  }
  if (value instanceof ListValue) {
    return Array.from({ length: value.size }, (_, index) => value.at(index)).flatMap((item) => mutationTypeErrors(item, path))
  }
  if (value instanceof MapValue) return [...value.keys()].flatMap((key) => mutationTypeErrors(value.get(key) ?? null, path))
  return []
}

/**
 * Converts a list of operation objects to JSON Patch operations.
 *
 * @throws RangeError for an operation of another type.
 * @see {@link mutationEnvironment}
 */
export function jsonPatchOperations(value: Value): readonly { readonly [member: string]: JsonValue }[] {
  if (!(value instanceof ListValue)) throw new RangeError('type mismatch: JSONPatchType.expression should evaluate to array')
  return Array.from({ length: value.size }, (_, index) => {
    const item = value.at(index)
    if (!(item instanceof MessageValue) || item.structName !== 'JSONPatch') {
      throw new RangeError('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch')
    }
    const given = item.members.get('value')
    const wrong = given instanceof MessageValue ? mutationTypeErrors(given, given.structName) : []
    if (wrong.length > 0) throw new RangeError(`type mismatch: ${wrong.join('\n')}`)
    const from = item.members.get('from')
    return {
      op: String(item.members.get('op') ?? ''),
      path: String(item.members.get('path') ?? ''),
      ...(typeof from === 'string' && from !== '' ? { from } : {}),
      ...(given === undefined ? {} : { value: toJson(given) as JsonValue }),
    }
  })
}
