import { memberNames, type Work } from '@krmkit/base/work'
import { ProblemCollector } from './problems.ts'
import type { DuplicateMembers, Member } from './syntax.ts'

/** Strict problems of documents without a type: custom resources and patches. */

/**
 * Lists duplicate members as sentences such as `duplicate field "spec.a"`, in document order.
 *
 * @example
 * import { parseJson } from '@krmkit/schema'
 * import { duplicateProblems } from '@krmkit/schema/json'
 * duplicateProblems(parseJson('{"a":1,"a":2}')) // [ 'duplicate field "a"' ]
 */
export function* duplicateProblems({ value, duplicates }: ParsedDocument): Work<readonly string[]> {
  if (duplicates === undefined) return []
  const problems = new ProblemCollector()
  yield* walk(value, duplicates, problems)
  return problems.list
}

export interface ParsedDocument {
  readonly value: unknown
  readonly duplicates?: DuplicateMembers | undefined
}

/**
 * Lists unknown members of a document as sentences such as `unknown field "a"`; at most 100.
 *
 * @example
 * import { unknownProblems } from '@krmkit/schema/json'
 * unknownProblems(['a']) // [ 'unknown field "a"' ]
 */
export function unknownProblems(names: Iterable<string>): readonly string[] {
  const problems = new ProblemCollector()
  for (const name of names) {
    if (problems.full) break
    problems.unknown(name)
  }
  return problems.list
}

function* walk(value: unknown, duplicates: DuplicateMembers, problems: ProblemCollector): Work {
  if (typeof value !== 'object' || value === null || problems.full) return
  let count = 0
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      if (typeof value[i] === 'object') yield* visit(i, value[i], duplicates, problems)
      if (++count % membersPerStep === 0) yield
    }
    return
  }
  const repeated = duplicates.get(value)
  if (repeated !== undefined) {
    yield* walkRepeated(repeated, duplicates, problems)
    return
  }
  for (const key of memberNames(value)) {
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'object') yield* visit(key, member, duplicates, problems)
    if (++count % membersPerStep === 0) yield
  }
}

/** Visits members with duplicates; reports each duplicate before its value is visited. */
function* walkRepeated(members: readonly Member[], duplicates: DuplicateMembers, problems: ProblemCollector): Work {
  const seen = new Set<string>()
  let count = 0
  for (const [key, member] of members) {
    if (seen.has(key)) problems.duplicate(key)
    seen.add(key)
    if (typeof member === 'object') yield* visit(key, member, duplicates, problems)
    if (++count % membersPerStep === 0) yield
  }
}

/** Members visited between two yields. */
const membersPerStep = 128

/** Maximum depth; decoding rejects deeper values. */
export const maxDepth = 1000

function* visit(step: string | number, value: unknown, duplicates: DuplicateMembers, problems: ProblemCollector): Work {
  if (value === null || problems.depth > maxDepth) return
  problems.enter(step)
  yield* walk(value, duplicates, problems)
  problems.leave()
}
