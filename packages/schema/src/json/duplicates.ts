import { memberNames, runAtOnce, type Work } from '@krmkit/meta/work'
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
export function duplicateProblems(parsed: ParsedDocument): readonly string[] {
  return runAtOnce(duplicateProblemsSteps(parsed))
}

interface ParsedDocument {
  readonly value: unknown
  readonly duplicates?: DuplicateMembers | undefined
}

/**
 * As `duplicateProblems`, for large documents: a generator that can be interrupted at each yield.
 *
 * @see {@link duplicateProblems}
 */
export function* duplicateProblemsSteps({ value, duplicates }: ParsedDocument): Work<readonly string[]> {
  if (duplicates === undefined) return []
  const problems = new ProblemCollector()
  yield* walk(value, duplicates, problems)
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
  if (repeated === undefined) {
    for (const key of memberNames(value)) {
      const member = (value as Record<string, unknown>)[key]
      if (typeof member === 'object') yield* visit(key, member, duplicates, problems)
      if (++count % membersPerStep === 0) yield
    }
    return
  }
  for (const [key, member] of reportRepeated(repeated, problems)) {
    if (typeof member === 'object') yield* visit(key, member, duplicates, problems)
    if (++count % membersPerStep === 0) yield
  }
}

/** Members visited between two yields. */
const membersPerStep = 128

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

function* visit(step: string | number, value: unknown, duplicates: DuplicateMembers, problems: ProblemCollector): Work {
  if (value === null || problems.depth > maxDepth) return
  problems.enter(step)
  yield* walk(value, duplicates, problems)
  problems.leave()
}
