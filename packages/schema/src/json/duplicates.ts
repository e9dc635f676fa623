import { ProblemCollector } from './problems.ts'
import type { DuplicateMembers, Member } from './syntax.ts'

/** Problems of documents without a type: custom resources and patches. */

/**
 * Lists duplicate members as sentences such as `duplicate field "spec.a"`, in document order.
 *
 * @example
 * import { parseJson } from '@krmkit/schema'
 * import { duplicateProblems } from '@krmkit/schema/json'
 * duplicateProblems(parseJson('{"a":1,"a":2}')) // [ 'duplicate field "a"' ]
 */
export function duplicateProblems(parsed: {
  readonly value: unknown
  readonly duplicates?: DuplicateMembers | undefined
}): readonly string[] {
  if (parsed.duplicates === undefined) return []
  const problems = new ProblemCollector()
  walk(parsed.value, parsed.duplicates, problems)
  return problems.list
}

/**
 * Lists unknown members of a document as sentences such as `unknown field "a"`: the first hundred.
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

function walk(value: unknown, duplicates: DuplicateMembers, problems: ProblemCollector): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) visit(i, value[i], duplicates, problems)
    return
  }
  const repeated = duplicates.get(value)
  if (repeated === undefined) {
    for (const key in value) visit(key, (value as Record<string, unknown>)[key], duplicates, problems)
    return
  }
  for (const [key, member] of reportRepeated(repeated, problems)) visit(key, member, duplicates, problems)
}

/** Yields the members in order and reports each repetition before its value is visited. */
export function* reportRepeated(members: readonly Member[], problems: ProblemCollector): Generator<Member> {
  const seen = new Set<string>()
  for (const member of members) {
    if (seen.has(member[0])) problems.duplicate(member[0])
    seen.add(member[0])
    yield member
  }
}

/** Decoding rejects deeper values. */
const maxDepth = 1000

function visit(step: string | number, value: unknown, duplicates: DuplicateMembers, problems: ProblemCollector): void {
  if (typeof value !== 'object' || value === null || problems.depth > maxDepth) return
  problems.enter(step)
  walk(value, duplicates, problems)
  problems.leave()
}
