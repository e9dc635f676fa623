import { describe, expect, it } from 'vitest'
import overloads from '../testdata/overloads.json' with { type: 'json' }
import { Environment } from './environment.ts'
import { formatType } from './values/types.ts'

/**
 * The functions of every release and the order of their overloads are those of kube-apiserver. The order matters: an
 * argument of unknown type selects the first overload that fits.
 */

const table: Readonly<Record<string, readonly string[]>> = overloads

/** Returns the minor version of a release. */
const minor = (release: string): number => Number(release.split('.')[1])

/** Returns the overloads of a release. */
function expected(release: string): Record<string, readonly string[]> {
  const known = Object.entries(table).map(([name, list]): [string, readonly string[]] => [
    name,
    list
      .map((line) => line.split(' # '))
      .filter(([, since = '1.23']) => minor(since) <= minor(release))
      .map(([signature]) => signature as string),
  ])
  return Object.fromEntries(known.filter(([, list]) => list.length > 0))
}

function found(release: string): Record<string, readonly string[]> {
  return Object.fromEntries(
    [...Environment.ofRelease(release).functions].map(({ name, overloads: list }) => [
      name,
      list.map(({ member, args, result }) => {
        const [first, ...rest] = args.map(formatType)
        const signature = member ? `${first}.(${rest.join(', ')})` : `(${args.map(formatType).join(', ')})`
        return `${signature} -> ${formatType(result)}`
      }),
    ]),
  )
}

describe.each(['1.25', '1.26', '1.27', '1.28', '1.29', '1.30', '1.31', '1.32', '1.33'])('functions of %s', (release) => {
  it('equal those of kube-apiserver', () => {
    expect(found(release)).toEqual(expected(release))
  })
})
