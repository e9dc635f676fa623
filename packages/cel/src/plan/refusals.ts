import type { Overload } from '../values/declarations.ts'
import { ErrorValue, typeNameOf, type Value } from '../values/values.ts'

/** Errors for arguments that no overload accepts. */

export const noOverload = new ErrorValue('no such overload')

/** Types that implement every operation and reject it themselves. */
const receivers = 'string google.protobuf.Timestamp google.protobuf.Duration'
const numbers = 'int uint double'

const types = (names: string): ReadonlySet<string> => new Set(`${receivers} ${names}`.split(' '))

const ordered = types(`bool bytes ${numbers}`)

/**
 * Operations that values implement, with the types that implement them. The error names the operation only if the first
 * value has another type.
 */
const ownOperations: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['size', types('bytes list map')],
  ['matches', types('')],
  ['_+_', types(`bytes list ${numbers}`)],
  ['_-_', types(numbers)],
  ['_*_', types(numbers)],
  ['_/_', types(numbers)],
  ['_%_', types('int uint')],
  ['_<_', ordered],
  ['_<=_', ordered],
  ['_>_', ordered],
  ['_>=_', ordered],
  ['-_', types('bool double int')],
])

/** Functions that are not named in their errors. */
const unnamed: ReadonlySet<string> = new Set(['!_', '@in', 'startsWith', 'endsWith', 'contains'])
/**
 * Functions with a regular expression. A constant expression is precompiled, and the optimized call has no name in errors.
 */
export const searches: ReadonlySet<string> = new Set(['matches', 'find', 'findAll'])

/** Returns the name of a function in its errors; `undefined` when errors do not name it. */
export function nameInErrors(name: string, hasConstantPattern: boolean): string | undefined {
  return unnamed.has(name) || (hasConstantPattern && searches.has(name)) ? undefined : name
}

/** Returns the error of kube-apiserver for arguments that no overload accepts. */
export function refusal(name: string | undefined, values: readonly Value[]): ErrorValue {
  if (name === undefined) return noOverload
  const names = values.map(typeNameOf)
  const owners = ownOperations.get(name)
  if (owners === undefined) return new ErrorValue(`no such overload: ${name}(${names.join(', ')})`)
  return owners.has(names[0] as string) ? noOverload : new ErrorValue(`no such overload: ${name}`)
}

/** Returns a check whether an overload rejects the nulls among its arguments; `undefined` if it accepts null everywhere. */
export function refusesNull({ args }: Overload): ((values: readonly Value[]) => boolean) | undefined {
  const refuses = args.map(({ kind }) => kind !== 'dyn' && kind !== 'param' && kind !== 'null')
  return refuses.includes(true) ? (values) => values.some((value, i) => value === null && refuses[i] === true) : undefined
}
