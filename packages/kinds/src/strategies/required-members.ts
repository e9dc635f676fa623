import { type FieldError, field, Path } from '@krmkit/meta'

/** Members that a kind requires although their zero value is legal. @see Strategy.requiredMembers */

export type RequiredMembers = readonly (readonly string[])[] | undefined

const none: readonly FieldError[] = []

/**
 * Errors for the required members that a value lacks: a body, a patched object or an applied configuration before it is decoded,
 * because decoding fills an absent member with its zero value.
 *
 * @example
 * import { missingErrors } from '@krmkit/kinds/strategies'
 * missingErrors({ metadata: { name: 'a' } }, [['spec']]) // [{ field: 'spec', reason: 'FieldValueRequired', message: 'Required value' }]
 */
export function missingErrors(value: unknown, required: RequiredMembers): readonly FieldError[] {
  return required === undefined ? none : missingMembers(value, required).map((path) => field.required(path))
}

/**
 * The errors that fail an update: objects stored without a required member stay writable without it.
 *
 * @param current the stored object, in the version of the request
 * @example
 * import { missingErrors, newlyMissing } from '@krmkit/kinds/strategies'
 * newlyMissing(missingErrors({}, [['spec']]), { kind: 'CSIDriver' }, [['spec']]) // []
 */
export function newlyMissing(
  missing: readonly FieldError[],
  current: object | undefined,
  required: RequiredMembers,
): readonly FieldError[] {
  if (missing.length === 0 || current === undefined) return missing
  const before = new Set(missingErrors(current, required).map(({ field: name }) => name))
  return missing.filter(({ field: name }) => !before.has(name))
}

/**
 * Returns the paths of required members that a value, as it was sent, lacks.
 *
 * @param paths of `Strategy.requiredMembers`: steps are member names; `*` is every item of a list, `?` after a member requires
 * the rest of the path only if that member is present, and `?other` only if its sibling `other` is.
 * @example
 * import { missingMembers } from '@krmkit/kinds/strategies'
 * const paths = [['spec', 'containers', '*', 'name']]
 * missingMembers({ spec: { containers: [{ name: 'web' }, {}] } }, paths).map(String) // [ 'spec.containers[1].name' ]
 */
export function missingMembers(value: unknown, paths: readonly (readonly string[])[]): Path[] {
  const missing: Path[] = []
  for (const path of paths) walk(value, { path, at: 0, items: [] }, missing)
  return missing
}

interface Walk {
  readonly path: readonly string[]
  /** Number of steps taken. */
  readonly at: number
  /** Indexes of the list items on the way. */
  readonly items: readonly number[]
}

function walk(value: unknown, { path, at, items }: Walk, missing: Path[]): void {
  let here = value
  for (let i = at; i < path.length; i++) {
    const step = path[i] as string
    if (step === '*') {
      if (Array.isArray(here))
        for (const [k, item] of here.entries()) walk(item, { path, at: i + 1, items: [...items, k] }, missing)
      return
    }
    if (step.startsWith('?')) {
      if (memberOf(here, step.slice(1)) === undefined) return
      continue
    }
    here = memberOf(here, step)
    if (path[i + 1] !== '?') continue
    if (here === undefined) return
    i++
  }
  if (here === undefined) missing.push(pathOf(path, items))
}

/** Null counts as missing. */
function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name] ?? undefined
}

function pathOf(steps: readonly string[], items: readonly number[]): Path {
  let path: Path | undefined
  let lists = 0
  for (const step of steps) {
    if (step.startsWith('?')) continue
    if (step === '*') path = path?.index(items[lists++] ?? 0)
    else path = path === undefined ? Path.of(step) : path.child(step)
  }
  return path ?? Path.of('')
}
