import { type Members, membersProblem } from '@krmkit/base/arguments'
import { TestingError } from './testing-error.ts'

/** Validates member names, because misspelt members would otherwise be ignored silently. */

export type { Members }

/** @throws TestingError `InvalidOption` for an unknown member */
export function checkMembers(what: string, value: object, known: Readonly<Record<string, true>>): void {
  failWith(membersProblem(what, value, known))
}

/** @throws TestingError `InvalidOption` when there is a problem */
export function failWith(problem: string | undefined): void {
  if (problem !== undefined) throw invalidOption(problem)
}

export function invalidOption(message: string): TestingError {
  return new TestingError({ code: 'InvalidOption', message })
}
