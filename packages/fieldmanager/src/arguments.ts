import { isJsonObject } from '@krmkit/meta'
import { FieldManagerError } from './field-manager-error.ts'

/** Checks of arguments, which callers without types may get wrong. */

type Kind = 'string' | 'boolean' | 'number' | 'function'

export function invalidArgument(message: string): FieldManagerError {
  return new FieldManagerError({ code: 'InvalidArgument', message })
}

/** @throws FieldManagerError `InvalidArgument` */
export function requireObjects(call: string, values: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(values))
    if (!isJsonObject(values[name])) throw invalidArgument(`${call}: ${name} is an object, not ${shown(values[name])}`)
}

/** @throws FieldManagerError `InvalidArgument` for an empty name too */
export function requireManager(call: string, manager: unknown): void {
  if (typeof manager !== 'string' || manager === '')
    throw invalidArgument(`${call} needs the name of a manager, not ${shown(manager)}`)
}

/**
 * Whether an object of options has known members only, of these kinds; absent members are fine.
 *
 * @throws FieldManagerError `InvalidArgument`
 */
export function requireOptions(call: string, options: unknown, kinds: Readonly<Record<string, Kind | 'any'>>): void {
  requireObjects(call, { 'the argument': options })
  const given = options as Readonly<Record<string, unknown>>
  for (const name of Object.keys(given)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (kind === undefined)
      throw invalidArgument(`${call} has no ${JSON.stringify(name)}; known: ${Object.keys(kinds).join(', ')}`)
    const isWrong = kind !== 'any' && given[name] !== undefined && typeof given[name] !== kind
    if (isWrong) throw invalidArgument(`${call}: ${name} is a ${kind}, not ${shown(given[name])}`)
  }
}

/** @throws FieldManagerError `InvalidArgument` for anything but a structural type, as `Deployment.type()` has it */
export function requireStructType(call: string, type: unknown): void {
  if (!Array.isArray((type as { readonly fields?: unknown } | null | undefined)?.fields))
    throw invalidArgument(`${call} needs a type such as Deployment.type(), not ${shown(type)}`)
}

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function that is not called'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'another object'
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
