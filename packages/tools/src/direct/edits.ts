/** Changes of source text. */
import ts from 'typescript'

/** What replaces a range of a text. */
export type Edit = readonly [from: number, to: number, replacement: string]

/** The text from `start` to `end` with the edits, which do not overlap. */
export function edited(
  text: string,
  { start = 0, end = text.length }: { start?: number; end?: number },
  edits: readonly Edit[],
): string {
  let result = ''
  let at = start
  for (const [from, to, replacement] of edits.toSorted((a, b) => a[0] - b[0])) {
    result += text.slice(at, from) + replacement
    at = to
  }
  return result + text.slice(at, end)
}

/** Whether an identifier is the name of a member, not of a variable or type. */
export function isMemberName(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node
  if (ts.isQualifiedName(parent)) return parent.right === node
  if (ts.isBindingElement(parent)) return parent.propertyName === node
  return (
    (ts.isPropertyAssignment(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isMethodSignature(parent) ||
      ts.isMethodDeclaration(parent)) &&
    parent.name === node
  )
}
