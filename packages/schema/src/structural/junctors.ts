import type { Work } from '@krmkit/base/work'
import { type FieldError, field, isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { addErrors } from '@krmkit/meta/validation'
import { own } from '../json/json-object.ts'

/**
 * Appends the errors of a value. Paths have the form of messages: `spec.list[0].member`.
 *
 * @returns the number of rule kinds checked, which ranks failed alternatives.
 */
export type Check<R = number> = (value: JsonValue, path: string, errors: FieldError[], old?: JsonValue | undefined) => R

/** As `Check`, but may be pausable for values with parts. */
export type PartsCheck = Check<number | Work<number>>

/** Compiles `anyOf`, `oneOf`, `allOf` and `not`. */
export function junctorCheck(schema: JsonObject, compile: (schema: JsonObject) => PartsCheck): Check<Work<number>> | undefined {
  const branches = (keyword: string): readonly PartsCheck[] => {
    const list = own(schema, keyword)
    return Array.isArray(list) ? list.filter(isJsonObject).map(compile) : []
  }
  const any = branches('anyOf')
  const one = branches('oneOf')
  const all = branches('allOf')
  const negated = own(schema, 'not')
  const not = isJsonObject(negated) ? compile(negated) : undefined
  if (any.length + one.length + all.length === 0 && not === undefined) return undefined
  return function* (value, path, errors, old) {
    let count = 0
    const fail = (message: string) => errors.push(field.invalid(undefined, '', `"${path}" must ${message}`))
    const attempt: Attempting = function* (branch) {
      const found: FieldError[] = []
      const checked = branch(value, path, found, old)
      return { count: typeof checked === 'number' ? checked : yield* checked, errors: found }
    }
    if (any.length > 0) {
      const { valid, best } = yield* evaluateBranches(any, attempt, true)
      if (valid === 0) {
        fail('validate at least one schema (anyOf)')
        count += merge(best, errors)
      }
    }
    if (one.length > 0) {
      const { valid, best } = yield* evaluateBranches(one, attempt, false)
      if (valid !== 1) {
        fail(
          `validate one and only one schema (oneOf). ${valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`}`,
        )
        if (valid === 0) count += merge(best, errors)
      }
    }
    if (all.length > 0) {
      const attempts: Attempt[] = []
      for (const branch of all) attempts.push(yield* attempt(branch))
      for (const each of attempts) count += merge(each, errors)
      const failed = attempts.filter((each) => each.errors.length > 0).length
      if (failed > 0) fail(`validate all the schemas (allOf)${failed === all.length ? '. None validated' : ''}`)
    }
    if (not !== undefined && (yield* attempt(not)).errors.length === 0) fail('not validate the schema (not)')
    return count
  }
}

interface Attempt {
  readonly count: number
  readonly errors: readonly FieldError[]
}

type Attempting = (branch: PartsCheck) => Work<Attempt>

function merge(attempt: Attempt | undefined, errors: FieldError[]): number {
  if (attempt === undefined) return 0
  addErrors(errors, attempt.errors)
  return attempt.count
}

/** Counts the valid alternatives and finds the best failed one. */
function* evaluateBranches(
  branches: readonly PartsCheck[],
  attempt: Attempting,
  firstIsEnough: boolean,
): Work<{ valid: number; best: Attempt | undefined }> {
  let valid = 0
  let best: Attempt | undefined
  for (const branch of branches) {
    const tried = yield* attempt(branch)
    if (tried.errors.length === 0) {
      valid++
      if (firstIsEnough) break
    } else if (best === undefined || tried.count > best.count) best = tried
  }
  return { valid, best }
}
