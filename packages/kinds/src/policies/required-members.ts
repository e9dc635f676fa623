import { Path } from '@krmkit/meta'

/**
 * Which members a value as it was written does not name, of those that it must.
 *
 * @param paths of `KindPolicy.requiredMembers`: steps are member names; `*` is every item of a list, and a step that ends in
 * `?` asks for the rest of the path only where its member is there.
 */
export function missingMembers(value: unknown, paths: readonly (readonly string[])[]): Path[] {
  return paths.flatMap((path) => missingBelow(value, path, undefined))
}

function missingBelow(value: unknown, steps: readonly string[], at: Path | undefined): Path[] {
  const [step, ...rest] = steps
  if (step === undefined) return value === undefined && at !== undefined ? [at] : []
  if (step === '*') {
    return Array.isArray(value) ? value.flatMap((item, i) => missingBelow(item, rest, at?.index(i))) : []
  }
  const isAsked = step.endsWith('?')
  const name = isAsked ? step.slice(0, -1) : step
  const member = memberOf(value, name)
  if (isAsked && member === undefined) return []
  return missingBelow(member, rest, at === undefined ? Path.of(name) : at.child(name))
}

/** Null counts as none. */
function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Record<string, unknown>)[name] ?? undefined
}
