import { DecodeError } from '../../schema-error.ts'
import { construct } from '../../yaml/construct.ts'
import { readNodes } from '../../yaml/read-nodes.ts'
import { align } from './align.ts'
import { commentsOf } from './comments.ts'
import { emitRoot } from './emit.ts'
import { equalValues, isCollection, readSource, type SourceDocument } from './source-tree.ts'

/**
 * Writes a changed value into the text of a YAML document. Unchanged parts keep their text, and every comment is kept.
 *
 * @param change returns the new value, or its argument when nothing changes; must not modify the argument.
 * @returns undefined when the text cannot express the new value, for example because a removed member defines an anchor.
 * @throws DecodeError
 */
export function rewriteYaml(text: string, change: (value: unknown) => unknown): string | undefined {
  const crlf = text.includes('\r\n')
  const source = crlf ? text.replaceAll('\r\n', '\n') : text
  const node = readNodes(source)
  if (node === undefined) return text
  const { value } = construct(node, { literals: true })
  const changed = change(value)
  if (changed === value || equalOrder(value, changed)) return text
  if (!isCollection(changed)) return undefined
  const document = readSource(source, node, value)
  if (document.root.children === undefined) return undefined
  const comments = commentsOf(document.lines, node, document.offsetOf)
  const alignment = align(document.root, changed)
  const body = emitRoot(changed, { text: source, document, alignment, comments })
  if (!says(`${body.join('\n')}\n`, changed)) return undefined
  const written = completed(
    document,
    body,
    comments.map(({ text: comment }) => comment),
  )
  if (!says(written, changed)) return undefined
  return crlf ? written.replaceAll('\n', '\r\n') : written
}

/** Whether the values are equal and their members in the same order. */
function equalOrder(a: unknown, b: unknown): boolean {
  return equalValues(a, b) && JSON.stringify(a, plain) === JSON.stringify(b, plain)
}

const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

/** Adds the text before and after the root, and comments whose position no longer exists. */
function completed({ lines, root }: SourceDocument, body: readonly string[], comments: readonly string[]): string {
  const first = root.children?.[0]
  const head = lines.slice(0, first?.from ?? root.from)
  const tail = lines.slice(root.to)
  const written = [...head, ...body, ...tail]
  const missing = missingComments(comments, written)
  return [...head, ...missing, ...body, ...tail].join('\n')
}

function missingComments(comments: readonly string[], lines: readonly string[]): string[] {
  const { length } = comments
  if (length === 0) return []
  const text = lines.join('\n')
  const root = readNodes(text)
  if (root === undefined) return []
  const starts: number[] = [0]
  for (const line of lines) starts.push((starts.at(-1) as number) + line.length + 1)
  const present = commentsOf(lines, root, (line) => starts[line] as number).map(({ text: comment }) => comment)
  return comments.filter((comment) => {
    const at = present.indexOf(comment)
    if (at >= 0) present.splice(at, 1)
    return at < 0
  })
}

/** Whether a text parses to a value, without duplicate members. */
function says(text: string, value: unknown): boolean {
  try {
    const root = readNodes(text)
    if (root === undefined) return false
    const { value: read, problems } = construct(root, { literals: true })
    return problems.length === 0 && equalValues(read, value)
  } catch (error) {
    // For example, an anchor that was removed.
    if (error instanceof DecodeError) return false
    throw error
  }
}
