import type { Overload } from './declarations.ts'
import { ErrorValue, typeNameOf, type Value } from './values.ts'

/** Errors for arguments that are null. */

export const noOverload = new ErrorValue('no such overload')

/** Functions of values themselves, whose error names the function alone when the first argument is null. */
const ownOperations: ReadonlySet<string> = new Set([
  'size',
  '_+_',
  '_-_',
  '_*_',
  '_/_',
  '_%_',
  '_<_',
  '_<=_',
  '_>_',
  '_>=_',
  '-_',
])
/** Functions whose error does not name them. */
const unnamed: ReadonlySet<string> = new Set(['!_', '@in', 'startsWith', 'endsWith', 'contains', 'matches', 'find', 'findAll'])

/** The error of the stock server for null, by function; `undefined` for arguments of any value. */
export function nullRefusal(
  name: string,
  { args }: Overload,
): ((values: readonly Value[]) => ErrorValue | undefined) | undefined {
  const refuses = args.map(({ kind }) => kind !== 'dyn' && kind !== 'param' && kind !== 'null')
  if (!refuses.includes(true)) return undefined
  return (values) => {
    if (!values.some((value, i) => value === null && refuses[i] === true)) return undefined
    if (ownOperations.has(name)) return values[0] === null ? new ErrorValue(`no such overload: ${name}`) : noOverload
    if (unnamed.has(name)) return noOverload
    return new ErrorValue(`no such overload: ${name}(${values.map(typeNameOf).join(', ')})`)
  }
}
