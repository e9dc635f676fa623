// Derived from duplicates.ts by `npm run direct`: do not edit.
import { maxDepth, type ParsedDocument } from './duplicates.ts'
import { ProblemCollector } from './problems.ts'
import type { DuplicateMembers, Member } from './syntax.ts'

/**
 * Lists duplicate members as sentences such as `duplicate field "spec.a"`, in document order.
 *
 * @example
 * import { parseJson } from '@krmkit/schema'
 * import { duplicateProblems } from '@krmkit/schema/json'
 * duplicateProblems(parseJson('{"a":1,"a":2}')) // [ 'duplicate field "a"' ]
 */
export function duplicateProblems({ value, duplicates }: ParsedDocument): readonly string[] {
  if (duplicates === undefined) return []
  const problems = new ProblemCollector()
  walk(value, duplicates, problems)
  return problems.list
}

function walk(value: unknown, duplicates: DuplicateMembers, problems: ProblemCollector): void {
  if (typeof value !== 'object' || value === null || problems.full) return

  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] === 'object') visit(i, value[i], duplicates, problems)
    }
    return
  }
  const repeated = duplicates.get(value)
  if (repeated !== undefined) {
    walkRepeated(repeated, duplicates, problems)
    return
  }
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'object') visit(key, member, duplicates, problems)
  }
}

/** Visits members with duplicates; reports each duplicate before its value is visited. */
function walkRepeated(members: readonly Member[], duplicates: DuplicateMembers, problems: ProblemCollector): void {
  const seen = new Set<string>()

  for (const [key, member] of members) {
    if (seen.has(key)) problems.duplicate(key)
    seen.add(key)
    if (typeof member === 'object') visit(key, member, duplicates, problems)
  }
}

function visit(step: string | number, value: unknown, duplicates: DuplicateMembers, problems: ProblemCollector): void {
  if (value === null || problems.depth > maxDepth) return
  problems.enter(step)
  walk(value, duplicates, problems)
  problems.leave()
}
