/** The report of a comparison: what differs, with the equal parts around it. */

import type { Work } from '@krmkit/base/work'
import { addCounts, countsText, differencesOf, groupsOf, noCounts } from './counts.ts'
import type { Edit } from './edit-script.ts'
import type { GoType } from './go-types.ts'
import { isZero } from './go-value.ts'
import { isListDiff, listDiff } from './list-diff.ts'
import type { Meter } from './meter.ts'
import { ellipsis, lengthOf, sameText, type TextNode, type TextRecord, wrap } from './text-node.ts'
import { missing, type ValueNode, type ValueRecord } from './value-node.ts'
import { boundedDetail, type Format, keyText, shownParts, type View, valueText, withType } from './value-text.ts'

/** Equal parts shown beside a difference. */
const contextParts = 2

/** Least detail of a difference, and that of equal parts. */
const leastDetail = 3
const commonDetail = 1

/** How often detail is added where a removed and an inserted text are the same. */
const maxEscalations = 6

/** Prints one side of a difference. */
type PrintSide = (view: 'removed' | 'inserted', format: Format) => Work<TextNode | undefined>

/** Prints values that differ, as go-cmp does. */
export class Report {
  readonly #meter: Meter

  constructor(meter: Meter) {
    this.#meter = meter
  }

  *text(node: ValueNode): Work<TextNode> {
    return (yield* this.#node(node, { view: 'difference', types: 'always', isLiteral: false, detail: leastDetail })) ?? ''
  }

  /** The text of a node; nothing for the side that is missing. */
  *#node(node: ValueNode, given: Format): Work<TextNode | undefined> {
    if (this.#meter.isDue()) yield
    const detail = given.view === 'common' ? commonDetail : Math.max(leastDetail, given.detail)
    const format = { ...given, detail }
    if (isListDiff(node, format)) return yield* listDiff(node, format, this.#meter)
    if (node.depth === 0) return yield* this.#leaf(node, format)
    if (node.target !== undefined) return wrap('&', (yield* this.#node(node.target, format)) ?? '')
    const list = format.view === 'difference' ? yield* this.#differences(node, format) : yield* this.#parts(node, format)
    return withType(node.type, wrap('{', list, '}'), format)
  }

  *#leaf({ type, x, y, different }: ValueNode, format: Format): Work<TextNode | undefined> {
    if (format.view === 'removed') return yield* valueText(type, x, format, this.#meter)
    if (format.view === 'inserted') return yield* valueText(type, y, format, this.#meter)
    if (different === 0) {
      const left = (yield* valueText(type, x, format, this.#meter)) ?? ''
      const right = (yield* valueText(type, y, format, this.#meter)) ?? ''
      return lengthOf(left) < lengthOf(right) ? left : right
    }
    const print: PrintSide = (view, each) => valueText(type, view === 'removed' ? x : y, each, this.#meter)
    return withType(type, yield* pairOf({ ...format, types: 'never' }, print), { ...format, types: 'always' })
  }

  /** The parts of values that are equal, or of one of them. */
  *#parts({ type, records }: ValueNode, format: Format): Work<TextRecord[]> {
    const limit = format.view === 'common' ? shownParts(format) : 2 ** boundedDetail(format) * 2
    const next = partFormat(type, format)
    const list: TextRecord[] = []
    for (const record of records) {
      if (list.length === limit) {
        list.push({ value: ellipsis, elidesComma: true })
        break
      }
      if (type.kind === 'struct' && isElided(record.node, format.view)) continue
      const value = yield* this.#node(record.node, next)
      if (value !== undefined) list.push({ key: keyOf(type, record), value })
    }
    return list
  }

  *#differences({ type, records }: ValueNode, format: Format): Work<TextRecord[]> {
    const limit = 2 ** boundedDetail(format) * 2
    const next = partFormat(type, format)
    const partName = partNames[type.kind] ?? 'field'
    const list: TextRecord[] = []
    const groups = [...groupsOf(records.map(({ node }) => editOf(node)))]
    const rest = noCounts()
    let [at, changes] = [0, 0]
    for (const [i, group] of groups.entries()) {
      const { identical } = group
      const differences = differencesOf(group)
      if (changes >= limit) addCounts(rest, group)
      else if (differences > 0) {
        for (const record of records.slice(at, at + differences)) list.push(...(yield* this.#change(type, record, next)))
        changes += differences
      } else {
        const before = i === 0 ? 0 : Math.min(contextParts, identical)
        let after = i === groups.length - 1 ? 0 : Math.min(contextParts, identical - before)
        if (identical - before - after === 1) after++
        yield* this.#context(type, records.slice(at, at + before), { list, format: next })
        const hidden = identical - before - after
        if (hidden > 0)
          list.push({ value: ellipsis, elidesComma: true, comment: countsText({ ...group, identical: hidden }, partName) })
        yield* this.#context(type, records.slice(at + identical - after, at + identical), { list, format: next })
      }
      at += identical + differences
    }
    if (rest.identical + differencesOf(rest) > 0)
      list.push({ value: ellipsis, elidesComma: true, comment: countsText(rest, partName) })
    return list
  }

  *#context(
    type: GoType,
    records: readonly ValueRecord[],
    { list, format }: { readonly list: TextRecord[]; readonly format: Format },
  ): Work {
    for (const record of records) {
      const value = yield* this.#node(record.node, { ...format, view: 'common' })
      if (value !== undefined) list.push({ key: keyOf(type, record), value })
    }
  }

  /** A part that differs: both sides where it has at most one part itself, else its differences. */
  *#change(type: GoType, record: ValueRecord, format: Format): Work<TextRecord[]> {
    const { node } = record
    const key = keyOf(type, record)
    if (isListDiff(node, format)) return [{ key, value: yield* listDiff(node, format, this.#meter) }]
    if (node.children !== node.depth) return [{ key, value: (yield* this.#node(node, format)) ?? '' }]
    const print: PrintSide = (view, each) => this.#node(node, { ...each, view })
    return (yield* pairOf(format, print)).map((side) => ({ ...side, key }))
  }
}

/** The removed and the inserted text, in as much detail as they need to differ. */
function* pairOf(format: Format, print: PrintSide): Work<TextRecord[]> {
  let removed = yield* print('removed', format)
  let inserted = yield* print('inserted', format)
  for (let i = 0; i <= maxEscalations && removed !== undefined && inserted !== undefined && sameText(removed, inserted); i++) {
    const more = { ...format, detail: boundedDetail(format) + 2 * i, isLiteral: i > 0 }
    removed = yield* print('removed', more)
    inserted = yield* print('inserted', more)
  }
  const records: TextRecord[] = []
  if (removed !== undefined) records.push({ mark: '-', value: removed })
  if (inserted !== undefined) records.push({ mark: '+', value: inserted })
  return records
}

/** Names of parts, for comments; those of structs are fields. */
const partNames: Readonly<Record<string, string>> = { slice: 'element', map: 'entry' }

/** The format of the parts of a value: types are printed of fields only. */
function partFormat({ kind }: GoType, format: Format): Format {
  return { ...format, types: kind === 'slice' || kind === 'map' ? 'never' : 'composite', detail: format.detail - 1 }
}

function keyOf(type: GoType, { key }: ValueRecord): string {
  return type.kind === 'map' ? keyText(type.key, key) : key
}

function editOf({ x, y, different }: ValueNode): Edit {
  if (different === 0) return 'same'
  if (y === missing) return 'removed'
  return x === missing ? 'inserted' : 'modified'
}

/** Whether a field is left out: fields with the zero value of their type are shown only beside a difference. */
function isElided({ type, x, y }: ValueNode, view: View): boolean {
  const isZeroSide = (side: ValueNode['x']) => side !== missing && isZero(type, side)
  if (view === 'removed') return isZeroSide(x)
  return isZeroSide(y) || (view === 'common' && isZeroSide(x))
}
