/** The table of lists by resourceVersion, resourceVersionMatch, limit and continue. @see API protocol specification, 4.2 */

export type Cell = 'most recent' | 'any' | 'not older' | 'exact' | 'of the token' | 'refused'
type Version = 'unset' | '0' | 'b'
type Row = readonly [
  match: '' | 'Exact' | 'NotOlderThan',
  pagination: '' | 'limit' | 'continue',
  cells: readonly [Cell, Cell, Cell],
]

// The table of the specification row by row, and the combinations that it omits: continue with a match.
const rows: readonly Row[] = [
  ['', '', ['most recent', 'any', 'not older']],
  ['', 'limit', ['most recent', 'any', 'exact']],
  ['', 'continue', ['of the token', 'of the token', 'refused']],
  ['Exact', '', ['refused', 'refused', 'exact']],
  ['Exact', 'limit', ['refused', 'refused', 'exact']],
  ['NotOlderThan', '', ['refused', 'any', 'not older']],
  ['NotOlderThan', 'limit', ['refused', 'any', 'not older']],
  ['Exact', 'continue', ['refused', 'refused', 'refused']],
  ['NotOlderThan', 'continue', ['refused', 'refused', 'refused']],
]
const versions: readonly Version[] = ['unset', '0', 'b']
export const cells = rows.flatMap(([match, pagination, answers]) =>
  versions.map((version, i) => ({ match, pagination, version, cell: answers[i] as Cell })),
)

const ids: Readonly<Record<string, string>> = {
  '||unset': 'P169',
  '||0': 'P170',
  '||b': 'P171',
  '|limit|unset': 'P172',
  '|limit|0': 'P172',
  '|limit|b': 'P173',
  '|continue|unset': 'P174',
  '|continue|0': 'P175',
  '|continue|b': 'P176',
}
const idOf = ({ match, pagination, version }: (typeof cells)[number]): string =>
  match === ''
    ? (ids[`|${pagination}|${version}`] as string)
    : match === 'Exact'
      ? version === 'b' && pagination !== 'continue'
        ? 'P178'
        : 'P177'
      : version === 'unset'
        ? 'P179'
        : 'P180'
export const named = cells.map(
  (one) => [`${idOf(one)} match=${one.match || '-'} ${one.pagination || 'whole'} version=${one.version}`, one] as const,
)
