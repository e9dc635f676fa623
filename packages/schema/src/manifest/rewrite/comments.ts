import type { YamlNode } from '../../yaml/nodes.ts'

/** The comments of a YAML text. */

export interface Comment {
  readonly line: number
  readonly column: number
  /** From `#` to the end of the line. */
  readonly text: string
}

/** Finds the comments of a text, given its nodes. */
export function commentsOf(lines: readonly string[], root: YamlNode, offsetOf: (line: number) => number): Comment[] {
  const scalars: { readonly start: number; readonly end: number }[] = []
  collect(root, scalars)
  scalars.sort((a, b) => a.start - b.start)
  const comments: Comment[] = []
  let next = 0
  let block = -1
  lines.forEach((line, index) => {
    const start = offsetOf(index)
    const indent = line.length - line.trimStart().length
    if (block >= 0) {
      if (line.trim() === '' || indent > block) return
      block = -1
    }
    let hash = -1
    for (const match of line.matchAll(/(?:^|\s)#/g)) {
      const at = start + match.index + match[0].length - 1
      while (next < scalars.length && (scalars[next] as { end: number }).end <= at) next++
      const scalar = scalars[next]
      if (scalar !== undefined && scalar.start <= at && at < scalar.end) continue
      hash = at - start
      break
    }
    const content = hash < 0 ? line : line.slice(0, hash)
    if (hash >= 0) comments.push({ line: index, column: hash, text: line.slice(hash).trimEnd() })
    if (isBlockHeader(content)) block = blockIndent(content)
  })
  return comments
}

function collect(node: YamlNode, found: { start: number; end: number }[]): void {
  if (node.kind === 'scalar') found.push({ start: node.start, end: node.end })
  else if (node.kind !== 'alias') for (const item of node.items) collect(item, found)
}

/** Whether the line ends with the indicator of a block scalar. */
function isBlockHeader(line: string): boolean {
  return /(?:^|[\s:-])[|>][-+0-9]{0,2}\s*$/.test(line)
}

/** Column of the key or dash that the block belongs to: its lines are indented deeper. */
function blockIndent(line: string): number {
  const dashes = /^\s*(?:-\s+)*/.exec(line)?.[0] ?? ''
  const isItem = /^[|>]/.test(line.slice(dashes.length))
  return isItem ? dashes.trimEnd().length - 1 : dashes.length
}
