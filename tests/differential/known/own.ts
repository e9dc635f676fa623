import type { Difference } from '../compare.ts'
import type { KnownDivergence } from './index.ts'

/** Departures on purpose, where the specification is silent. */
export const ownDepartures: readonly KnownDivergence[] = [
  {
    id: 'D20',
    title: 'Refused changes of immutable parts come without a comparison of the Go structs',
    reason:
      'The stock server appends the output of a Go library, which prints internal types and whose format is unstable on purpose. The field and the rule are in the text before it.',
    matches: (difference) => sameText(difference, (text) => text.replaceAll(goDiff, '')),
  },
  {
    id: 'D21',
    title: 'Empty maps and lists in printed Go values are nil',
    reason:
      'Objects are validated in their canonical JSON form, in which an empty map or list is absent; Go tells them apart in what it prints into messages.',
    matches: (difference) => sameText(difference, (text) => text.replaceAll(emptyGoValue, '$1(nil)')),
  },
  {
    id: 'D22',
    title: 'Syntax errors of expressions have the words of another parser',
    reason:
      'The texts after `Syntax error:` come from the parser generator of the stock server and list its internal expectations; position and excerpt are equal.',
    matches: (difference) => sameText(difference, (text) => text.replaceAll(/(?<=: Syntax error: ).*/g, '')),
  },
]

/** The Go diff of two structs: its first line names a type, its last one closes the brace. */
const goDiff = /(?<=\n)[ \u00a0]+(?:&?\w+\.\w+\{\n[^]*?\n[ \u00a0]+\}|[^]*?)\n(?=\]$|$|, \w)/g
const emptyGoValue = /((?:map\[[\w.]+\]|\[\])[\w.]+|core\.ResourceList)\{\}/g

/** Whether both texts are messages that are equal after `strip`. */
function sameText({ stock, krmkit }: Difference, strip: (text: string) => string): boolean {
  return typeof stock === 'string' && typeof krmkit === 'string' && strip(stock) === strip(krmkit)
}
