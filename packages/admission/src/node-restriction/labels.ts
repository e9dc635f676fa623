import type { NamingProfile } from '@krmkit/meta'

type Labels = Readonly<Record<string, string>> | undefined

/** Labels that changed and that a node must not give to itself, in their order. */
export function forbiddenNodeLabels(next: Labels, old: Labels, profile: NamingProfile): string[] {
  const names = new Set([...Object.keys(next ?? {}), ...Object.keys(old ?? {})])
  return [...names].filter((name) => labelOf(next, name) !== labelOf(old, name) && isForbidden(name, profile)).sort()
}

function labelOf(labels: Labels, name: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, name) ? labels[name] : undefined
}

function isForbidden(label: string, { domain, apiDomain }: NamingProfile): boolean {
  const slash = label.indexOf('/')
  const namespace = slash < 0 ? '' : label.slice(0, slash)
  if (isWithin(namespace, `node-restriction.${domain}`)) return true
  return (isWithin(namespace, domain) || isWithin(namespace, apiDomain)) && !isOfNodes(label, namespace, domain)
}

function isWithin(namespace: string, parent: string): boolean {
  return namespace === parent || namespace.endsWith(`.${parent}`)
}

/** What nodes tell about themselves. */
function isOfNodes(label: string, namespace: string, domain: string): boolean {
  if (isWithin(namespace, `kubelet.${domain}`) || isWithin(namespace, `node.${domain}`)) return true
  return (
    own.some((name) => label === `${domain}/${name}`) ||
    beta.some((name) => label === `beta.${domain}/${name}`) ||
    places.some((name) => label === `topology.${domain}/${name}` || label === `failure-domain.beta.${domain}/${name}`)
  )
}

const own = ['hostname', 'os', 'arch']
const beta = ['os', 'arch', 'instance-type']
const places = ['zone', 'region']
