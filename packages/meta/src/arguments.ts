import { nearestName } from './nearest-name.ts'

export { nearestName }

/**
 * Checks of arguments for calls that no compiler has checked. Each returns the problem, for the error of the package that is called, or
 * undefined.
 */

/** The names of the members of a type, none left out. */
export type Members<T> = Readonly<Record<keyof T, true>>

/** The kinds of the members of a type, none left out. */
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
 * The problem of options that are not an object, have an unknown member, or a value of another kind.
 *
 * @example
 * import { optionsProblem } from '@krmkit/meta/arguments'
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
 * The problem of a value that is not an object, or has an unknown member.
 *
 * @param known an object with the names of the members
 * @example
 * import { membersProblem } from '@krmkit/meta/arguments'
 * membersProblem('listen', { prot: 0 }, { port: true, host: true }) // 'listen has no "prot"; did you mean "port"?'
 */
export function membersProblem(what: string, value: unknown, known: object): string | undefined {
  if (!isObject(value)) return `${what} needs an object, not ${shown(value)}`
  for (const name of Object.keys(value)) if (!Object.hasOwn(known, name)) return unknownName(what, name, Object.keys(known))
  return undefined
}

/** The problem of a member that does not exist: the most similar one, or all. @see {@link membersProblem} */
export function unknownName(what: string, name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  const hint = nearest === undefined ? `known: ${known.join(', ')}` : `did you mean ${JSON.stringify(nearest)}?`
  return `${what} has no ${JSON.stringify(name)}; ${hint}`
}

/** The problem of a member whose value is of another kind. Absent and undefined members have none. @see {@link optionsProblem} */
export function kindsProblem(what: string, value: object, expected: Readonly<Record<string, OptionKind>>): string | undefined {
  for (const [name, kind] of Object.entries(expected)) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    const problem = member === undefined ? undefined : kindProblem(`${what}: ${name}`, member, kind)
    if (problem !== undefined) return problem
  }
  return undefined
}

/**
 * The problem of a value of another kind.
 *
 * @example
 * import { kindProblem } from '@krmkit/meta/arguments'
 * kindProblem('`port`', '0', 'count') // '`port` is an integer from 0, not "0"'
 */
export function kindProblem(what: string, value: unknown, kind: OptionKind): string | undefined {
  const { accepts, is } = kinds[kind]
  return accepts(value) ? undefined : `${what} is ${is}, not ${shown(value)}`
}

/**
 * The problem of a value that lacks one of these functions.
 *
 * @example
 * import { functionsProblem } from '@krmkit/meta/arguments'
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
 * A value as messages show it. Objects may hold credentials, so only the names of their members appear.
 *
 * @example
 * import { shown } from '@krmkit/meta/arguments'
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
