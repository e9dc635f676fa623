/** Deprecated labels of nodes and their successors. */
import type { NamingProfile } from '@krmkit/meta'

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
  const newer = newerNodeLabel(label, profile)
  return newer === undefined ? undefined : `deprecated since ${find(label, profile.domain)?.since}; use "${newer}" instead`
}
