/** Deprecated labels of nodes and their successors. */
import type { NamingProfile } from '@krmkit/meta'
import { validateLabelValue } from '@krmkit/meta/names'
import type { NodeSelectorTerm } from '../../types/core-v1.generated.ts'
import type { LabelSelector } from '../../types/meta-v1.generated.ts'
import { inOrder, isSet, type R } from './values.ts'

/** Old and new name without the trailing domain, and the release that deprecated the old one. */
const renamed = [
  { from: ['beta.', '/arch'], to: ['', '/arch'], since: 'v1.14' },
  { from: ['beta.', '/os'], to: ['', '/os'], since: 'v1.14' },
  { from: ['failure-domain.beta.', '/region'], to: ['topology.', '/region'], since: 'v1.17' },
  { from: ['failure-domain.beta.', '/zone'], to: ['topology.', '/zone'], since: 'v1.17' },
  { from: ['beta.', '/instance-type'], to: ['node.', '/instance-type'], since: 'v1.17' },
] as const

function find(label: string, domain: string) {
  return renamed.find(({ from: [before, after] }) => label === `${before}${domain}${after}`)
}

/** The successor of a deprecated label. */
export function newerNodeLabel(label: string, { domain }: NamingProfile): string | undefined {
  const found = find(label, domain)
  return found === undefined ? undefined : `${found.to[0]}${domain}${found.to[1]}`
}

/** The warning about a deprecated label. */
export function nodeLabelWarning(label: string, profile: NamingProfile): string | undefined {
  const { domain } = profile
  const newer = newerNodeLabel(label, profile)
  if (newer !== undefined) return `deprecated since ${find(label, domain)?.since}; use "${newer}" instead`
  switch (label) {
    case `app.${domain}/created-by`:
      return 'deprecated since v1.9'
    case `scheduler.alpha.${domain}/preferAvoidPods`:
      return 'deprecated since v1.22; use Taints and Tolerations instead'
    case `node-role.${domain}/master`:
      return `use "node-role.${domain}/control-plane" instead`
    default:
      return undefined
  }
}

/** The deprecated labels among the keys of a map, sorted. They are looked up: the map may be large. */
export function deprecatedKeys(map: object | null | undefined, { domain }: NamingProfile): readonly string[] {
  if (!isSet(map)) return []
  return inOrder(deprecatedLabels(domain).filter((label) => Object.hasOwn(map, label)))
}

/** All labels with a `nodeLabelWarning`. */
function deprecatedLabels(domain: string): string[] {
  const others = [`app.${domain}/created-by`, `scheduler.alpha.${domain}/preferAvoidPods`, `node-role.${domain}/master`]
  return [...renamed.map(({ from: [before, after] }) => `${before}${domain}${after}`), ...others]
}

/** Warnings about the labels of a term, and about values that are none of a label where `checksValues`. */
export function warnNodeTerm(
  texts: string[],
  term: R<NodeSelectorTerm> | undefined,
  {
    path,
    profile,
    checksValues = false,
  }: { readonly path: string; readonly profile: NamingProfile; readonly checksValues?: boolean },
): void {
  for (const [i, { key, values = [] }] of (term?.matchExpressions ?? []).entries()) {
    const here = `${path}.matchExpressions[${i}]`
    texts.push(...keyWarnings(`${here}.key`, key, profile))
    if (!checksValues) continue
    for (const [j, value] of values.entries())
      for (const message of validateLabelValue(value)) texts.push(`${here}.values[${j}]: ${value} is invalid, ${message}`)
  }
}

/** Warnings about the labels of a selector. */
export function nodeSelectorWarnings(path: string, selector: R<LabelSelector> | undefined, profile: NamingProfile): string[] {
  const { matchExpressions = [], matchLabels } = selector ?? {}
  const texts = matchExpressions.flatMap(({ key }, i) => keyWarnings(`${path}.matchExpressions[${i}].key`, key, profile))
  for (const label of deprecatedKeys(matchLabels, profile)) {
    const text = nodeLabelWarning(label, profile)
    if (text !== undefined) texts.push(`${path}.matchLabels.${label}: ${text}`)
  }
  return texts
}

/** The warning about a label that is the value of a member. */
export function keyWarnings(path: string, label: string | undefined, profile: NamingProfile): string[] {
  const text = nodeLabelWarning(label ?? '', profile)
  return text === undefined ? [] : [`${path}: ${label} is ${text}`]
}
