import { functionsProblem, kindProblem, kindsProblem, type OptionKind, shown } from '@krmkit/base/arguments'
import { failWith } from './known-members.ts'

/** Validates the kinds of values, because wrong kinds would otherwise be accepted silently. */

export { type OptionKind, shown }

/** @throws TestingError `InvalidOption` for a member whose value is of another kind */
export function checkKinds(what: string, value: object, expected: Readonly<Record<string, OptionKind>>): void {
  failWith(kindsProblem(what, value, expected))
}

/** @throws TestingError `InvalidOption` */
export function checkKind(what: string, value: unknown, kind: OptionKind): void {
  failWith(kindProblem(what, value, kind))
}

/** Whether a value is an object with these functions. @throws TestingError `InvalidOption` */
export function checkFunctions(what: string, value: unknown, names: readonly string[]): void {
  failWith(functionsProblem(what, value, names))
}
