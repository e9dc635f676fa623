import type { CursorContext, TextMembers } from './cursor-context.ts'

/** Where the cursor is in block YAML, also in a text that cannot be parsed while it is being typed. Lines decide, not the grammar. */

/** Longest document, in lines, in which a context is found. */
const maxLines = 20_000

interface Line {
  readonly index: number
  readonly text: string
  /** Columns of the dashes of list items that begin on the line. */
  readonly dashes: readonly number[]
  /** Column of the content after the dashes; the length of the text where there is none. */
  readonly start: number
  /** Name of the member that begins on the line. */
  readonly name?: string
  /** Text after the colon, without comments and quotes. */
  readonly value: string
}

/** One level above the cursor, innermost first. */
interface Level {
  readonly step: string | number
  /** A line and column of the mapping that holds the member; for items, of the list. */
  readonly line: number
  readonly column: number
}

/** @param line and column count from 0. */
export function yamlContext(
  text: string,
  { line, column }: { readonly line: number; readonly column: number },
): CursorContext | undefined {
  const all = text.split(/\r?\n/)
  const [first, last] = documentAround(all, line)
  if (last - first > maxLines) return undefined
  const lines = all.slice(first, last).map(parseLine)
  const current = lines[line - first]
  if (current === undefined || isInText(current.text, column)) return undefined
  const inValue = current.name !== undefined && column > valueStart(current)
  const isBlank = current.name === undefined && current.start >= current.text.length
  const indent = isBlank ? (current.dashes.length > 0 ? Math.max(current.start, column) : column) : current.start
  if (!inValue && column < indent) return undefined
  const levels = levelsAbove(lines, current, indent)
  const steps = levels.map(({ step }) => step).reverse()
  const members = membersAt(lines, current.index, indent)
  const word = wordAt(current.text, inValue ? valueStart(current) : indent, column)
  const root = objectRoot(lines, levels, { line: current.index, column: indent })
  return {
    steps: steps.slice(root.depth),
    ...(inValue ? { name: current.name as string } : {}),
    siblings: without(members, inValue ? undefined : current.name),
    object: root.members,
    replace: { line, from: word.from, to: word.to },
    hasColon: current.name !== undefined,
    indent,
    json: false,
  }
}

function without(members: TextMembers, name: string | undefined): ReadonlySet<string> {
  const names = new Set(members.keys())
  if (name !== undefined) names.delete(name)
  return names
}

/** The lines of the document with a line: first, and after the last. */
function documentAround(lines: readonly string[], line: number): readonly [number, number] {
  const isMarker = (text: string | undefined) => text !== undefined && /^(?:---|\.\.\.)(?:\s|$)/.test(text)
  let first = line
  while (first > 0 && !isMarker(lines[first - 1])) first--
  let last = line
  while (last < lines.length && !isMarker(lines[last])) last++
  return [first, last]
}

const pattern =
  /^(\s*)((?:-\s+|-$)*)(?:("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#"'[\]{},:&*!|>%@`-][^#]*?|-[^\s#][^#]*?)\s*:(?=\s|$))?(.*)$/

function parseLine(text: string, index: number): Line {
  const [, space = '', marks = '', name, rest = ''] = /^\s*#/.test(text) ? [] : (pattern.exec(text) ?? [])
  const dashes = [...marks].flatMap((char, at) => (char === '-' ? [space.length + at] : []))
  const start = /^\s*#/.test(text) ? text.length : space.length + marks.length
  const value = name === undefined ? '' : unquoted(rest.replace(/\s#.*$/, '').trim())
  return { index, text, dashes, start, value, ...(name === undefined ? {} : { name: unquoted(name) }) }
}

function unquoted(text: string): string {
  return /^(["']).*\1$/s.test(text) && text.length > 1 ? text.slice(1, -1) : text
}

/** Column after the colon of the member. */
function valueStart({ text, start, name }: Line): number {
  return text.indexOf(':', start + (name?.length ?? 0)) + 1
}

/** Whether the column is in a comment. */
function isInText(text: string, column: number): boolean {
  const comment = /(?:^|\s)#/.exec(text)
  return comment !== null && column > comment.index && !/["'].*#.*["']/.test(text)
}

/** The levels above a column of a line, innermost first. */
function levelsAbove(lines: readonly Line[], current: Line, indent: number): Level[] {
  const levels: Level[] = []
  let limit = indent
  let count: { level: number; column: number } | undefined
  const enterDashes = ({ dashes, index }: Line): void => {
    for (const dash of [...dashes].reverse()) {
      if (dash >= limit) continue
      count = { level: levels.length, column: dash }
      levels.push({ step: 0, line: index, column: dash })
      limit = dash
    }
  }
  enterDashes(current)
  for (let at = current.index - 1; at >= 0 && (limit > 0 || count !== undefined); at--) {
    const line = lines[at] as Line
    if (line.name === undefined && line.dashes.length === 0) continue
    // A list may be as far left as the member that holds it.
    const isHolder =
      line.name !== undefined && (line.start < limit || (count !== undefined && line.dashes.length === 0 && line.start <= limit))
    if (count !== undefined && line.dashes.includes(count.column)) {
      const level = levels[count.level] as Level
      levels[count.level] = { ...level, step: (level.step as number) + 1 }
      continue
    }
    if (isHolder) {
      levels.push({ step: line.name as string, line: at, column: line.start })
      limit = line.start
      count = undefined
    }
    if (count === undefined) enterDashes(line)
  }
  return levels
}

/** The members of the mapping that a line belongs to, with the scalar values that stand on the line. */
function membersAt(lines: readonly Line[], from: number, column: number): TextMembers {
  const members = new Map<string, string>()
  const visit = (line: Line | undefined): boolean => {
    if (line === undefined) return false
    if (line.name === undefined && line.dashes.length === 0) return true
    if (line.start === column && line.name !== undefined) members.set(line.name, line.value)
    const leftmost = line.dashes[0] ?? line.start
    return leftmost >= column
  }
  for (let at = from; visit(lines[at]); at--);
  for (let at = from + 1; ; at++) {
    const line = lines[at]
    const leftmost = line?.dashes[0] ?? line?.start ?? 0
    if (line === undefined || ((line.name !== undefined || line.dashes.length > 0) && leftmost < column)) break
    visit(line)
  }
  return members
}

/** The members of the object that the cursor is in, and how many steps lead to it: items of lists are objects. */
function objectRoot(lines: readonly Line[], levels: readonly Level[], own: { readonly line: number; readonly column: number }) {
  const outermost = levels.at(-1) ?? own
  let members = membersAt(lines, outermost.line, outermost.column)
  let depth = 0
  while (
    /List$/.test(members.get('kind') ?? '') &&
    levels.at(-1 - depth)?.step === 'items' &&
    typeof levels.at(-2 - depth)?.step === 'number'
  ) {
    depth += 2
    const inner = levels.at(-1 - depth) ?? own
    members = membersAt(lines, inner.line, inner.column)
  }
  return { members, depth }
}

/** The word around a column, from a start. */
function wordAt(text: string, start: number, column: number): { readonly from: number; readonly to: number } {
  const before = /[^\s"':,[\]{}]*$/.exec(text.slice(Math.max(start, 0), column))?.[0] ?? ''
  const after = /^[^\s"':,[\]{}]*/.exec(text.slice(column))?.[0] ?? ''
  return { from: column - before.length, to: column + after.length }
}
