import type { PathElement } from './element.ts'
import { type FieldNode, type FieldSet, setOf } from './field-set.ts'

/**
 * Selects part of a set: everything except some paths and the paths below them, or only paths that match a pattern and the paths below
 * them.
 */
export type SetFilter = { readonly exclude: FieldSet } | { readonly include: SetMatcher }

/** A tree of patterns. `any` accepts everything from this point on. */
export interface SetMatcher {
  readonly any: boolean
  /** Patterns by element; `*` matches every element. */
  readonly members: ReadonlyMap<PathElement | '*', SetMatcher>
}

const matchAny: SetMatcher = { any: true, members: new Map() }

/**
 * Matches these prefixes and all paths below them; an element `*` matches any element.
 *
 * @example
 * ```ts
 * import { FieldSet } from '@krmkit/fieldmanager'
 * import { filterSet, prefixMatcher } from '@krmkit/fieldmanager/fieldpath'
 *
 * const owned = FieldSet.of(['f:spec', 'f:replicas'], ['f:status', 'f:replicas'])
 * filterSet(owned, { include: prefixMatcher(['f:status', '*']) }).toString() // '.status.replicas'
 * ```
 */
export function prefixMatcher(...prefixes: readonly (readonly PathElement[])[]): SetMatcher {
  let out: SetMatcher | undefined
  for (const prefix of prefixes) {
    let matcher = matchAny
    for (let i = prefix.length - 1; i >= 0; i--) matcher = { any: false, members: new Map([[prefix[i] as string, matcher]]) }
    out = out === undefined ? matcher : joinMatchers(out, matcher)
  }
  return out ?? { any: false, members: new Map() }
}

/**
 * The part of a set that a filter selects; the set itself without a filter.
 *
 * @example
 * ```ts
 * import { FieldSet } from '@krmkit/fieldmanager'
 * import { filterSet } from '@krmkit/fieldmanager/fieldpath'
 *
 * const owned = FieldSet.of(['f:spec', 'f:replicas'], ['f:status', 'f:replicas'])
 * filterSet(owned, { exclude: FieldSet.of(['f:status']) }).toString() // '.spec.replicas'
 * ```
 */
export function filterSet(set: FieldSet, filter: SetFilter | undefined): FieldSet {
  if (filter === undefined) return set
  return 'exclude' in filter ? set.recursiveDifference(filter.exclude) : includeMatches(set, filter.include)
}

function includeMatches(set: FieldSet, matcher: SetMatcher): FieldSet {
  if (matcher.any) return set
  const out = new Map<PathElement, FieldNode>()
  const wildcard = matcher.members.get('*')
  for (const [element, node] of set.nodes) {
    const below = wildcard ?? matcher.members.get(element)
    if (below === undefined) continue
    const children = node.children === undefined ? undefined : includeMatches(node.children, below)
    const kept = children?.empty ? undefined : children
    if (node.member || kept !== undefined) out.set(element, { member: node.member, children: kept })
  }
  return setOf(out)
}

function joinMatchers(a: SetMatcher, b: SetMatcher): SetMatcher {
  if (a.any || b.any) return matchAny
  const members = new Map(a.members)
  for (const [element, matcher] of b.members) {
    const own = members.get(element)
    members.set(element, own === undefined ? matcher : joinMatchers(own, matcher))
  }
  return { any: false, members }
}
