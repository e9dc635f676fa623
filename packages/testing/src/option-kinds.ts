import { invalidOption } from './known-members.ts'

/** Values of a wrong kind would be accepted silently in JavaScript. */

export type OptionKind = keyof typeof kinds

const isText = (value: unknown) => typeof value === 'string'
const isPattern = (value: unknown) => value instanceof RegExp
const isAtLeast = (min: number) => (value: unknown) => Number.isSafeInteger(value) && (value as number) >= min

const kinds = {
  text: { accepts: isText, is: 'a string' },
  texts: { accepts: (value: unknown) => Array.isArray(value) && value.every(isText), is: 'a list of strings' },
  pattern: { accepts: isPattern, is: 'a regular expression' },
  textOrPattern: { accepts: (value: unknown) => isText(value) || isPattern(value), is: 'a string or a regular expression' },
  flag: { accepts: (value: unknown) => typeof value === 'boolean', is: 'true or false' },
  set: { accepts: (value: unknown) => value === true, is: 'true' },
  function: { accepts: (value: unknown) => typeof value === 'function', is: 'a function' },
  count: { accepts: isAtLeast(0), is: 'an integer from 0' },
  positive: { accepts: isAtLeast(1), is: 'an integer from 1' },
  milliseconds: {
    accepts: (value: unknown) => Number.isFinite(value) && (value as number) >= 0,
    is: 'a number of milliseconds',
  },
} as const

/** @throws TestingError `InvalidOption` for a member whose value is of another kind */
export function checkKinds(what: string, value: object, expected: Readonly<Record<string, OptionKind>>): void {
  for (const [name, kind] of Object.entries(expected)) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    if (member !== undefined) checkKind(`${what}: ${name}`, member, kind)
  }
}

/** @throws TestingError `InvalidOption` */
export function checkKind(what: string, value: unknown, kind: OptionKind): void {
  const { accepts, is } = kinds[kind]
  if (!accepts(value)) throw invalidOption(`${what} is ${is}, not ${shown(value)}`)
}

/** Whether a value is an object with these functions. @throws TestingError `InvalidOption` */
export function checkFunctions(what: string, value: unknown, names: readonly string[]): void {
  const members = Object(value) as Readonly<Record<string, unknown>>
  const missing = names.find((name) => typeof members[name] !== 'function')
  if (missing !== undefined) throw invalidOption(`${what} needs a function \`${missing}\``)
}

/** A value as messages show it; numbers as they are written, since JSON has no NaN. */
export function shown(value: unknown): string {
  return typeof value === 'number' || value === undefined ? String(value) : JSON.stringify(value)
}
