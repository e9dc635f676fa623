/** Names of the time zone database. */

/** Words of zone names that are not capitalized like `Word`. */
const words = new Map(
  (
    'ACT CET CHAT CST CDT EET EST EDT GB GMT HST IN LHI MDT MET MST NSW NZ PDT PRC PST ROC ROK SU UCT US UTC W WET of es au ' +
    'McMurdo DumontDUrville ComodRivadavia BajaNorte BajaSur DeNoronha EasterIsland'
  )
    .split(' ')
    .map((word) => [word.toLowerCase(), word]),
)

/** Names that platforms accept although the database lacks them, such as `JST`. */
const foreign =
  /^(?:SystemV\/.*|US\/Pacific-New|Canada\/East-Saskatchewan|A[CEGR]T|AST|B[ES]T|C[ANS]T|CTT|E[AC]T|I[ES]T|JST|MIT|N[ES]T|P[LNRS]T|SST|VST)$/i

/**
 * Whether a name is in the time zone database. Names are case-sensitive, as in Go. Names that depend on files of the
 * machine, such as `posixrules`, are unknown.
 *
 * @example
 * import { isTimeZone } from '@krmkit/meta/time'
 * isTimeZone('Europe/Berlin') // true
 * isTimeZone('europe/berlin') // false
 */
export function isTimeZone(name: string): boolean {
  if (name === 'Factory') return true
  if (!/^[A-Z]/.test(name) || foreign.test(name) || name !== withCase(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

function withCase(name: string): string {
  return name.replace(/[A-Za-z]+/g, (word) => {
    const lower = word.toLowerCase()
    return words.get(lower) ?? word.charAt(0).toUpperCase() + lower.slice(1)
  })
}
