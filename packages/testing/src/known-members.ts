import { TestingError } from './testing-error.ts'

/** Misspelt members would be ignored silently in JavaScript. */

/** The names of the members of a type, none left out. */
export type Members<T> = Readonly<Record<keyof T, true>>

/** @throws TestingError `InvalidOption` for an unknown member */
export function checkMembers(what: string, value: object, known: Readonly<Record<string, true>>): void {
  if (typeof value !== 'object' || value === null) throw invalidOption(`${what} needs an object, not ${JSON.stringify(value)}`)
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(known, name)) continue
    throw invalidOption(`${what} has no ${JSON.stringify(name)}; known: ${Object.keys(known).join(', ')}`)
  }
}

export function invalidOption(message: string): TestingError {
  return new TestingError({ code: 'InvalidOption', message })
}
