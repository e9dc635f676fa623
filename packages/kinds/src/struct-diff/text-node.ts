/** Text as a tree of lists that stand on one line or on many. */

import type { Work } from '@krmkit/base/work'
import { utf8Length } from '@krmkit/meta/go-text'

/** Marks of lines. */
export type Mark = ' ' | '-' | '+'

/** A line, a node with text before and after it, or a list. */
export type TextNode = string | TextWrap | TextList

export interface TextWrap {
  readonly prefix: string
  readonly value: TextNode
  readonly suffix: string
}

export type TextList = readonly TextRecord[]

export interface TextRecord {
  /** Absent or a space: the mark of the list. */
  readonly mark?: Mark
  readonly key?: string
  readonly value: TextNode
  readonly elidesComma?: boolean
  readonly comment?: string
}

export const ellipsis = '...'

/** Lists of removed and inserted values that are longer, in bytes, stand on many lines. */
const maxLineLength = 80

export function wrap(prefix: string, value: TextNode, suffix = ''): TextWrap {
  return { prefix, value, suffix }
}

/** Length in bytes on one line, without marks and comments. */
export function lengthOf(node: TextNode): number {
  if (typeof node === 'string') return utf8Length(node)
  if (isWrap(node)) return utf8Length(node.prefix) + lengthOf(node.value) + utf8Length(node.suffix)
  let length = Math.max(0, node.length - 1) * 2
  for (const { key = '', value } of node) length += (key === '' ? 0 : utf8Length(key) + 2) + lengthOf(value)
  return length
}

/** Whether two trees are the same. */
export function sameText(a: TextNode, b: TextNode): boolean {
  if (typeof a === 'string' || typeof b === 'string') return a === b
  if (isWrap(a) || isWrap(b))
    return isWrap(a) && isWrap(b) && a.prefix === b.prefix && a.suffix === b.suffix && sameText(a.value, b.value)
  return (
    a.length === b.length &&
    a.every((left, i) => {
      const right = b[i] as TextRecord
      const { mark, key, comment } = left
      return mark === right.mark && key === right.key && comment === right.comment && sameText(left.value, right.value)
    })
  )
}

export function isWrap(node: TextNode): node is TextWrap {
  return typeof node !== 'string' && !Array.isArray(node)
}

/** The text of a tree, with a mark before each line. */
export function* printText(node: TextNode): Work<string> {
  const out: string[] = [indent(' ', 0)]
  yield* print(yield* compact(node, ' '), { mark: ' ', depth: 0, out })
  out.push('\n')
  return out.join('')
}

/** A tree on one line. */
function printLine(node: TextNode): string {
  if (typeof node === 'string') return node
  if (isWrap(node)) return node.prefix + printLine(node.value) + node.suffix
  return node.map(({ key = '', value }) => (key === '' ? '' : `${key}: `) + printLine(value)).join(', ')
}

/** Replaces lists that fit on one line by the line. */
function* compact(node: TextNode, mark: Mark): Work<TextNode> {
  if (typeof node === 'string') return node
  if (isWrap(node)) {
    const value = yield* compact(node.value, mark)
    return typeof value === 'string' ? node.prefix + value + node.suffix : { ...node, value }
  }
  yield
  const records: TextRecord[] = []
  for (const record of node) records.push({ ...record, value: yield* compact(record.value, markOf(record, mark)) })
  const isPlain = ({ mark = ' ', value, comment }: TextRecord) =>
    mark === ' ' && typeof value === 'string' && comment === undefined
  if (!records.every(isPlain)) return records
  const line = printLine(records)
  return mark !== ' ' && utf8Length(line) > maxLineLength ? records : line
}

function markOf({ mark }: TextRecord, outer: Mark): Mark {
  return mark === undefined || mark === ' ' ? outer : mark
}

interface Place {
  readonly mark: Mark
  readonly depth: number
  readonly out: string[]
}

function* print(node: TextNode, place: Place): Work {
  const { out } = place
  if (typeof node === 'string') out.push(node)
  else if (isWrap(node)) {
    out.push(node.prefix)
    yield* print(node.value, place)
    out.push(node.suffix)
  } else yield* printList(node, place)
}

function* printList(list: TextList, { mark, depth, out }: Place): Work {
  const isBatch =
    list.length > 0 &&
    list.every((record) => isLine(record) && record.mark === undefined && record.comment === undefined && !record.key)
  if (isBatch) for (const line of batches(list)) out.push('\n', indent(mark, depth + 1), line)
  else {
    const keySpaces = spacesAfter(
      list,
      (record) => isLine(record) && !!record.key,
      ({ key = '' }) => [...key].length,
    )
    const hasComment = (record: TextRecord) => isLine(record) && record.value !== ellipsis && record.comment !== undefined
    const valueSpaces = spacesAfter(list, hasComment, ({ value }) => [...(value as string)].length)
    for (const [i, record] of list.entries()) {
      yield
      const own = markOf(record, mark)
      out.push('\n', indent(own, depth + 1))
      if (record.key) out.push(`${record.key}: `)
      out.push(' '.repeat(keySpaces[i] as number))
      yield* print(record.value, { mark: own, depth: depth + 1, out })
      if (record.elidesComma !== true) out.push(',')
      out.push(' '.repeat(valueSpaces[i] as number))
      if (record.comment !== undefined) out.push(` // ${record.comment}`)
    }
  }
  out.push('\n', indent(mark, depth))
}

function isLine({ value }: TextRecord): boolean {
  return typeof value === 'string'
}

/** Values without keys, as many on a line as fit. */
function* batches(list: TextList): Generator<string> {
  let batch = ''
  let length = 0
  for (const { value } of list) {
    const line = value as string
    const added = utf8Length(line) + 2
    if (batch !== '' && length + added > maxLineLength) {
      yield batch.trimEnd()
      batch = ''
      length = 0
    }
    batch += `${line}, `
    length += added
  }
  if (batch !== '') yield batch.trimEnd()
}

/** Spaces that align adjacent records; others have none. */
function spacesAfter(list: TextList, aligns: (record: TextRecord) => boolean, width: (record: TextRecord) => number): number[] {
  const spaces = new Array<number>(list.length).fill(0)
  for (let start = 0; start < list.length; start++) {
    let end = start
    let widest = 0
    while (end < list.length && aligns(list[end] as TextRecord)) widest = Math.max(widest, width(list[end++] as TextRecord))
    for (let i = start; i < end; i++) spaces[i] = widest - width(list[i] as TextRecord)
    start = end
  }
  return spaces
}

function indent(mark: Mark, depth: number): string {
  return `${mark} ${'\t'.repeat(depth)}`
}
