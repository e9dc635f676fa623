import { isObject, type OptionKind, optionsProblem, shown } from '@krmkit/base/arguments'
import { FieldManagerError } from './field-manager-error.ts'

/** Checks of arguments, because untyped callers may pass invalid ones. */

export function invalidArgument(message: string): FieldManagerError {
  return new FieldManagerError({ code: 'InvalidArgument', message })
}

/** @throws FieldManagerError `InvalidArgument` */
export function requireObjects(call: string, values: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(values))
    if (!isObject(values[name])) throw invalidArgument(`${call}: ${name} is an object, not ${shown(values[name])}`)
}

/** @throws FieldManagerError `InvalidArgument` for an empty name too */
export function requireManager(call: string, manager: unknown): void {
  if (typeof manager !== 'string' || manager === '')
    throw invalidArgument(`${call} needs the name of a manager, not ${shown(manager)}`)
}

/** @throws FieldManagerError `InvalidArgument` for options with an unknown member or a value of the wrong type */
export function requireOptions(call: string, options: unknown, kinds: Readonly<Record<string, OptionKind>>): void {
  const problem = optionsProblem(options, { what: call, kinds, example: `{ ${Object.keys(kinds).join(', ')} }` })
  if (problem !== undefined) throw invalidArgument(problem)
}

/** @throws FieldManagerError `InvalidArgument` unless `type` is a structural type, such as `Deployment.type()` returns */
export function requireStructType(call: string, type: unknown): void {
  if (!Array.isArray((type as { readonly fields?: unknown } | null | undefined)?.fields))
    throw invalidArgument(`${call} needs a type such as Deployment.type(), not ${shown(type)}`)
}
