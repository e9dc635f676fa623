import type { CursorContext } from './cursor-context.ts'

/** Where the cursor is in JSON, also in a text that cannot be parsed while it is being typed. */

interface Container {
  readonly isList: boolean
  /** Position in a list. */
  index: number
  /** Name of the current member. */
  name: string | undefined
  /** Whether a value follows. */
  afterColon: boolean
  readonly members: Map<string, string>
}

interface Snapshot {
  readonly stack: readonly { readonly container: Container; readonly step: string | number | undefined }[]
  readonly afterColon: boolean
  readonly name: string | undefined
}

const token = /"(?:[^"\\\n]|\\.)*"?|[[\]{},:]|[^\s[\]{},:"]+/g

/** @param position line and column count from 0. */
export function jsonContext(
  text: string,
  position: { readonly line: number; readonly column: number },
): CursorContext | undefined {
  const lines = text.split('\n')
  const offset = lines.slice(0, position.line).reduce((sum, line) => sum + line.length + 1, 0) + position.column
  const scanned = scan(text, offset)
  if (scanned?.snapshot === undefined) return undefined
  const { snapshot, current } = scanned
  const innermost = snapshot.stack.at(-1)?.container
  // Items of lists have no names.
  if (innermost === undefined || innermost.isList) return undefined
  const all = snapshot.stack.slice(0, -1).map(({ step }) => step as string | number)
  let root = 0
  const rootMembers = () => snapshot.stack[root]?.container.members ?? new Map<string, string>()
  while (/List$/.test(rootMembers().get('kind') ?? '') && all[root] === 'items' && typeof all[root + 1] === 'number') root += 2
  const quoted = current?.text.startsWith('"') === true
  const from = current === undefined ? offset : current.start + (quoted ? 1 : 0)
  const to =
    current === undefined ? offset : current.end - (quoted && current.text.length > 1 && current.text.endsWith('"') ? 1 : 0)
  const inValue = snapshot.afterColon
  const shift = position.column - offset
  const names = new Set(innermost.members.keys())
  if (!inValue && current !== undefined) names.delete(text.slice(from, to))
  return {
    steps: all.slice(root),
    ...(inValue ? { name: snapshot.name as string } : {}),
    siblings: names,
    object: rootMembers(),
    replace: { line: position.line, from: from + shift, to: to + shift },
    hasColon: /^"?\s*:/.test(text.slice(to)),
    indent: 0,
    json: true,
    quoted,
  }
}

interface Word {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Reads the whole text, as members after the cursor count, too. */
function scan(text: string, offset: number): { snapshot: Snapshot | undefined; current: Word | undefined } | undefined {
  const stack: Container[] = []
  let snapshot: Snapshot | undefined
  let current: Word | undefined
  for (const { 0: found, index } of text.matchAll(token)) {
    const isWord = !/^[[\]{},:]$/.test(found)
    const isOpen = found.startsWith('"') && (found.length < 2 || !found.endsWith('"'))
    if (
      snapshot === undefined &&
      (index >= offset || (isWord && index + found.length >= offset + (found.startsWith('"') && !isOpen ? 1 : 0)))
    ) {
      snapshot = snapshotOf(stack)
      if (isWord && index < offset) current = { start: index, end: index + found.length, text: found }
    }
    step(stack, found)
    if (stack.length === 0 && snapshot !== undefined) break
    // A second value begins: nothing before it belongs to it.
    if (stack.length > 200) return undefined
  }
  return { snapshot: snapshot ?? snapshotOf(stack), current }
}

function snapshotOf(stack: readonly Container[]): Snapshot {
  const last = stack.at(-1)
  return {
    stack: stack.map((container) => ({ container, step: container.isList ? container.index : container.name })),
    afterColon: last?.afterColon ?? false,
    name: last?.name,
  }
}

function step(stack: Container[], found: string): void {
  const last = stack.at(-1)
  if (found === '{' || found === '[') {
    stack.push({ isList: found === '[', index: 0, name: undefined, afterColon: false, members: new Map() })
  } else if (found === '}' || found === ']') stack.pop()
  else if (last === undefined) return
  else if (found === ',') {
    last.index++
    last.name = undefined
    last.afterColon = false
  } else if (found === ':') last.afterColon = true
  else if (!last.isList && !last.afterColon) {
    last.name = found.replace(/^"|"$/g, '')
    last.members.set(last.name, '')
  } else if (!last.isList && last.name !== undefined && found.startsWith('"'))
    last.members.set(last.name, found.replace(/^"|"$/g, ''))
}
