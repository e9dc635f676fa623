import { nearestName } from './nearest-name.ts'

export { nearestName }

/**
 * Argument checks for callers that are not type-checked. Each function returns the problem as text, for the error of the
 * called package, or undefined.
 */

/** All member names of a type. */
export type Members<T> = Readonly<Record<keyof T, true>>

/** The kinds of all members of a type. */
export type OptionKinds<T> = Readonly<Record<keyof T, OptionKind>>

export type OptionKind = keyof typeof kinds

const isText = (value: unknown) => typeof value === 'string'
const isPattern = (value: unknown) => value instanceof RegExp
const isAtLeast = (min: number) => (value: unknown) => Number.isSafeInteger(value) && (value as number) >= min

const kinds = {
  any: { accepts: () => true, is: 'any value' },
  text: { accepts: isText, is: 'a string' },
  texts: { accepts: (value: unknown) => Array.isArray(value) && value.every(isText), is: 'a list of strings' },
  pattern: { accepts: isPattern, is: 'a regular expression' },
  textOrPattern: { accepts: (value: unknown) => isText(value) || isPattern(value), is: 'a string or a regular expression' },
  flag: { accepts: (value: unknown) => typeof value === 'boolean', is: 'true or false' },
  set: { accepts: (value: unknown) => value === true, is: 'true' },
  function: { accepts: (value: unknown) => typeof value === 'function', is: 'a function' },
  object: { accepts: isObject, is: 'an object' },
  list: { accepts: Array.isArray, is: 'a list' },
  count: { accepts: isAtLeast(0), is: 'an integer from 0' },
  number: { accepts: (value: unknown) => typeof value === 'number' && !Number.isNaN(value), is: 'a number' },
  textOrFunction: { accepts: (value: unknown) => isText(value) || typeof value === 'function', is: 'a string or a function' },
  positive: { accepts: isAtLeast(1), is: 'an integer from 1' },
  milliseconds: {
    accepts: (value: unknown) => Number.isFinite(value) && (value as number) >= 0,
    is: 'a number of milliseconds',
  },
} as const

/** Whether a value is an object other than a list. @see {@link optionsProblem} */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Checks options: they must be an object with known members of the right kinds.
 *
 * @example
 * import { optionsProblem } from '@krmkit/base/arguments'
 * const expected = { what: 'listen', kinds: { port: 'count' }, example: '{ port: 6443 }' } as const
 * optionsProblem(6443, expected) // 'listen needs an object such as { port: 6443 }, not 6443'
 * optionsProblem({ port: '6443' }, expected) // 'listen: port is an integer from 0, not "6443"'
 */
export function optionsProblem(
  value: unknown,
  expected: { readonly what: string; readonly kinds: Readonly<Record<string, OptionKind>>; readonly example: string },
): string | undefined {
  const { what, kinds: known, example } = expected
  if (!isObject(value)) return `${what} needs an object such as ${example}, not ${shown(value)}`
  return membersProblem(what, value, known) ?? kindsProblem(what, value, known)
}

/**
 * Checks that a value is an object with known members only.
 *
 * @param known an object with the names of the members
 * @example
 * import { membersProblem } from '@krmkit/base/arguments'
 * membersProblem('listen', { prot: 0 }, { port: true, host: true }) // 'listen has no "prot"; did you mean "port"?'
 */
export function membersProblem(what: string, value: unknown, known: object): string | undefined {
  if (!isObject(value)) return `${what} needs an object, not ${shown(value)}`
  for (const name of Object.keys(value)) if (!Object.hasOwn(known, name)) return unknownName(what, name, Object.keys(known))
  return undefined
}

/** Describes an unknown member, and suggests the most similar name or lists all. @see {@link membersProblem} */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  const hint = nearest === undefined ? `known: ${known.join(', ')}` : `did you mean ${JSON.stringify(nearest)}?`
  return `${what} has no ${JSON.stringify(name)}; ${hint}`
}

/** Checks the kinds of members. Absent and undefined members are valid. @see {@link optionsProblem} */
export function kindsProblem(what: string, value: object, expected: Readonly<Record<string, OptionKind>>): string | undefined {
  for (const [name, kind] of Object.entries(expected)) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    const problem = member === undefined ? undefined : kindProblem(`${what}: ${name}`, member, kind)
    if (problem !== undefined) return problem
  }
  return undefined
}

/**
 * Checks the kind of a value.
 *
 * @example
 * import { kindProblem } from '@krmkit/base/arguments'
 * kindProblem('`port`', '0', 'count') // '`port` is an integer from 0, not "0"'
 */
export function kindProblem(what: string, value: unknown, kind: OptionKind): string | undefined {
  const { accepts, is } = kinds[kind]
  return accepts(value) ? undefined : `${what} is ${is}, not ${shown(value)}`
}

/**
 * Checks that a value has all of these functions.
 *
 * @example
 * import { functionsProblem } from '@krmkit/base/arguments'
 * functionsProblem('`clock`', () => Date.now(), ['now']) // '`clock` is a function; pass what it returns'
 */
export function functionsProblem(what: string, value: unknown, names: readonly string[]): string | undefined {
  const members = Object(value) as Readonly<Record<string, unknown>>
  const missing = names.find((name) => typeof members[name] !== 'function')
  if (missing === undefined) return undefined
  if (value instanceof Promise) return `${what} is a promise; await it`
  if (typeof value === 'function') return `${what} is a function; pass what it returns`
  return `${what} needs a function \`${missing}\`${isObject(value) ? '' : `, not ${shown(value)}`}`
}

/**
 * Formats a value for messages. Of objects, which may contain credentials, only member names are shown.
 *
 * @example
 * import { shown } from '@krmkit/base/arguments'
 * shown({ token: 'secret' }) // '{ token }'
 */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
  if (typeof value === 'function') return 'a function'
  if (value instanceof Promise) return 'a promise'
  if (Array.isArray(value)) return value.length === 0 ? '[]' : 'a list'
  if (!isObject(value)) return String(value)
  const names = Object.keys(value)
  return names.length === 0 ? '{}' : `{ ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''} }`
}
