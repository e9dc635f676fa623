/** Differences of strings and of lists of numbers or booleans: pieces of both that differ, with equal pieces around them. */

import type { Work } from '@krmkit/base/work'
import { goQuote, isPrintable, utf8Length } from '@krmkit/meta/go-text'
import { bytesOf, isSpace, quoteBytes, quoteText } from './byte-text.ts'
import { addCounts, type Counts, countsText, differencesOf, groupsOf, noCounts } from './counts.ts'
import { differentItems, type Edit, editScript, equalItems } from './edit-script.ts'
import type { GoType } from './go-types.ts'
import type { GoValue } from './go-value.ts'
import type { Meter } from './meter.ts'
import { ellipsis, type Mark, type TextNode, type TextRecord, wrap } from './text-node.ts'
import { isTripleLine, tripleQuotes } from './triple-quotes.ts'
import { missing, type ValueNode } from './value-node.ts'
import { boundedDetail, type Format, withType } from './value-text.ts'

/** Strings and lists that are shorter, in bytes or items, are printed whole. */
const minLength = 32

/** Equal pieces shown beside a difference. */
const contextPieces = 2

/** Whether a node is printed by {@link listDiff}. */
export function isListDiff({ type, x, y, same, different, compared }: ValueNode, { view }: Format): boolean {
  if (view !== 'difference' || different === 0 || x === missing || y === missing || compared > 0) return false
  if (type.kind === 'string') return lengthOf(x) >= minLength && lengthOf(y) >= minLength
  if (type.kind !== 'slice' || (type.element.kind !== 'int' && type.element.kind !== 'bool')) return false
  const [nx, ny] = [lengthOf(x), lengthOf(y)]
  return nx > 0 && ny > 0 && (different > same || (nx >= minLength && ny >= minLength))
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length >= minLength ? value.length : bytesOf(value).length
  return Array.isArray(value) ? value.length : 0
}

/** Two lists, of which pieces are printed. */
interface Lists<T extends { readonly length: number; slice(start: number, end: number): T }> {
  readonly x: T
  readonly y: T
  readonly isEqual: (ix: number, iy: number) => boolean
  /** Items of a piece. */
  readonly pieceLength: number
  /** Name of an item. */
  readonly name: string
  readonly print: (piece: T, mark: Mark) => Pick<TextRecord, 'value' | 'comment'>
}

export function* listDiff({ type, x, y }: ValueNode, format: Format, meter: Meter): Work<TextNode> {
  if (type.kind === 'string') return yield* textDiff(type, { x: String(x), y: String(y), format }, meter)
  const [itemsX, itemsY] = [x as readonly GoValue[], y as readonly GoValue[]]
  const list = yield* pieces(
    {
      x: itemsX,
      y: itemsY,
      isEqual: (ix, iy) => String(itemsX[ix]) === String(itemsY[iy]),
      pieceLength: type.element.kind === 'bool' ? 16 : 8,
      name: type.element.underlying,
      print: (piece) => ({ value: piece.map(String).join(', ') }),
    },
    format,
    meter,
  )
  return withType(type, wrap('{', list, '}'), format)
}

interface Texts {
  readonly x: string
  readonly y: string
  readonly format: Format
}

function* textDiff(type: GoType, texts: Texts, meter: Meter): Work<TextNode> {
  const { x, y, format } = texts
  const [bytesX, bytesY] = [bytesOf(x), bytesOf(y)]
  const bytes = { x: bytesX, y: bytesY, isEqual: (ix: number, iy: number) => bytesX[ix] === bytesY[iy], name: 'byte' }
  const { isText, isMostlyText, isLined } = yield* textTraits(x + y)
  let text: TextNode
  if (isText && isLined && (yield* prefersLines(texts, bytes, meter))) {
    const [linesX, linesY] = [x.split('\n'), y.split('\n')]
    const isEqual = (ix: number, iy: number) => linesX[ix] === linesY[iy]
    const print = ([line]: readonly string[]) => ({ value: line as string })
    const list = yield* pieces({ x: linesX, y: linesY, isEqual, pieceLength: 1, name: 'line', print }, format, meter)
    text = tripleQuoted(list) ?? wrap('strings.Join({', list.map(quoteLine), '}, "\\n")')
  } else if (isMostlyText) {
    const print = (piece: Uint8Array) => ({ value: quoteBytes(piece) })
    text = wrap('strings.Join({', yield* pieces({ ...bytes, pieceLength: 64, print }, format, meter), '}, "")')
  } else {
    const list = yield* pieces({ ...bytes, pieceLength: 16, print: printBinary }, format, meter)
    return withType(type, wrap('{', list, '}'), { ...format, types: 'always' })
  }
  return type.name === 'string' ? text : withType(type, text, format)
}

const maxLineLength = 1024

/** Whether all or most characters are visible, and whether there are lines. */
function* textTraits(text: string): Work<{ isText: boolean; isMostlyText: boolean; isLined: boolean }> {
  let [characters, visible, lines, longest, lineStart, at] = [0, 0, 0, 0, 0, 0]
  for (const char of text) {
    if (++characters % 1024 === 0) yield
    if ((char >= ' ' && char <= '~') || ((isPrintable(char) || isSpace(char)) && char !== '\ufffd')) visible++
    if (char === '\n') {
      longest = Math.max(longest, at - lineStart)
      lineStart = at + 1
      lines++
    }
    at += utf8Length(char)
  }
  return {
    isText: visible === characters,
    isMostlyText: visible > Math.floor(0.9 * characters),
    isLined: lines >= 4 && longest <= maxLineLength,
  }
}

/** Whether a difference of lines is not much longer than one of bytes, or quotes would need many escapes. */
function* prefersLines({ x, y }: Texts, bytes: Pick<Lists<Uint8Array>, 'x' | 'y' | 'isEqual'>, meter: Meter): Work<boolean> {
  const [linesX, linesY] = [x.split('\n'), y.split('\n')]
  const isEqual = (ix: number, iy: number) => linesX[ix] === linesY[iy]
  const byLine = yield* editsOf({ x: linesX, y: linesY, isEqual }, meter)
  const byByte = yield* editsOf(bytes, meter)
  if (changedPart(byLine) < 4 * changedPart(byByte)) return true
  let quoted = 0
  for (const line of `${x}${y}`.split('\n')) {
    if (meter.isDue()) yield
    quoted += utf8Length(goQuote(line))
  }
  // Of each line, the quotes stand for the escaped line break.
  return quoted / (bytes.x.length + bytes.y.length) > 1.1
}

function changedPart(edits: readonly Edit[]): number {
  let changed = 0
  for (const edit of edits) if (edit !== 'same') changed++
  return changed / edits.length
}

function editsOf(
  {
    x,
    y,
    isEqual,
  }: {
    readonly x: { readonly length: number }
    readonly y: { readonly length: number }
    readonly isEqual: Lists<string>['isEqual']
  },
  meter: Meter,
): Work<Edit[]> {
  return editScript(x.length, y.length, (ix, iy) => (isEqual(ix, iy) ? equalItems : differentItems), meter)
}

function quoteLine(record: TextRecord): TextRecord {
  return record.value === ellipsis && record.elidesComma === true
    ? record
    : { ...record, value: quoteText(record.value as string) }
}

/** Lines between triple quotes, unless a reader would not see all of them, or not the difference of adjacent ones. */
function tripleQuoted(list: readonly TextRecord[]): TextNode | undefined {
  const lines: TextRecord[] = []
  let seen = { '-': new Set<string>(), '+': new Set<string>() }
  for (const record of list) {
    const { mark, elidesComma } = record
    const isChange = mark === '-' || mark === '+'
    if (!isChange) seen = { '-': new Set(), '+': new Set() }
    if (elidesComma === true) {
      lines.push(record)
      continue
    }
    const line = (record.value as string).replace(/\r$/, '').replace(/^\r/, '')
    if (!isTripleLine(line)) return undefined
    if (isChange) {
      const bare = [...line].filter((char) => !isSpace(char)).join('')
      if (seen[mark === '-' ? '+' : '-'].has(bare)) return undefined
      seen[mark].add(bare)
    }
    lines.push({ ...record, value: line, elidesComma: true })
  }
  const last = lines.at(-1)
  if (last?.mark === ' ' && last.value === '') lines.pop()
  return tripleQuotes('', lines)
}

function printBinary(piece: Uint8Array, mark: Mark): Pick<TextRecord, 'value' | 'comment'> {
  const values: string[] = []
  let characters = ''
  for (const byte of piece) {
    values.push(`0x${byte.toString(16).padStart(2, '0')}`)
    characters += byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '.'
  }
  return { value: values.join(', '), comment: `${mark}|${characters}|` }
}

/** Pieces of both lists that differ, with the equal ones around them. */
function* pieces<T extends { readonly length: number; slice(start: number, end: number): T }>(
  lists: Lists<T>,
  format: Format,
  meter: Meter,
): Work<TextRecord[]> {
  const { pieceLength, name, print } = lists
  const list: TextRecord[] = []
  const add = (items: T, mark: Mark) => {
    for (let at = 0; at < items.length; at += pieceLength)
      list.push({ mark, ...print(items.slice(at, Math.min(at + pieceLength, items.length)), mark) })
  }
  const limit = 2 ** boundedDetail(format) * 4
  const groups = trimGroups(joinGroups([...groupsOf(yield* editsOf(lists, meter))], Math.floor(pieceLength / 4)), lists)
  const rest = noCounts()
  let [ix, iy, changes] = [0, 0, 0]
  for (const [i, group] of groups.entries()) {
    if (changes >= limit) {
      addCounts(rest, group)
      continue
    }
    yield
    const { identical, removed, inserted } = group
    if (differencesOf(group) === 0) {
      const [isFirst, isLast] = [i === 0, i === groups.length - 1]
      const before = isFirst ? 0 : Math.min(identical, pieceLength * contextPieces)
      let after = isLast ? 0 : Math.min(identical - before, pieceLength * contextPieces)
      if (identical - before - after <= pieceLength) after = identical - before
      add(lists.x.slice(ix, ix + before), ' ')
      const hidden = identical - before - after
      if (hidden > 0)
        list.push({ value: ellipsis, elidesComma: true, comment: countsText({ ...group, identical: hidden }, name) })
      add(lists.x.slice(ix + identical - after, ix + identical), ' ')
      ix += identical
      iy += identical
      continue
    }
    const shown = list.length
    add(lists.x.slice(ix, ix + identical + removed), '-')
    add(lists.y.slice(iy, iy + identical + inserted), '+')
    ix += identical + removed
    iy += identical + inserted
    changes += list.length - shown
  }
  if (rest.identical + differencesOf(rest) > 0) list.push({ value: ellipsis, elidesComma: true, comment: countsText(rest, name) })
  return list
}

/** Joins differences with the few equal items between them, where the result removes and inserts. */
function joinGroups(groups: readonly Counts[], window: number): Counts[] {
  const joined: Counts[] = []
  for (const next of groups) {
    const [before, between] = [joined.at(-2), joined.at(-1)]
    if (before !== undefined && between !== undefined && differencesOf(next) > 0) {
      const removes = before.removed + next.removed > 0
      const inserts = before.inserted + next.inserted > 0
      if (removes && inserts && between.identical <= window) {
        addCounts(before, between)
        addCounts(before, next)
        joined.pop()
        continue
      }
    }
    joined.push(next)
  }
  return joined
}

/** Moves equal items at the start and at the end of a difference to the equal group beside it. */
function trimGroups(groups: readonly Counts[], { isEqual }: Pick<Lists<string>, 'isEqual'>): readonly Counts[] {
  let [ix, iy] = [0, 0]
  for (const [i, group] of groups.entries()) {
    const { identical, removed, inserted } = group
    if (differencesOf(group) === 0) {
      ix += identical
      iy += identical
      continue
    }
    let [nx, ny] = [identical + removed, identical + inserted]
    const shorter = Math.min(nx, ny)
    let [leading, trailing] = [0, 0]
    while (leading < shorter && isEqual(ix + leading, iy + leading)) leading++
    while (trailing < shorter && isEqual(ix + nx - 1 - trailing, iy + ny - 1 - trailing)) trailing++
    const [before, after] = [groups[i - 1], groups[i + 1]]
    if (leading + trailing > 0) {
      if (before !== undefined) before.identical += leading
      ix += leading
      iy += leading
      if (after !== undefined) after.identical += trailing
      nx -= leading + trailing
      ny -= leading + trailing
      group.identical = 0
      group.removed = nx
      group.inserted = ny
    }
    ix += nx
    iy += ny
  }
  return groups
}
