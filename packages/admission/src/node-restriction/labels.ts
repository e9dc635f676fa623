import type { NamingProfile } from '@krmkit/meta'

type Labels = Readonly<Record<string, string>> | undefined

/** The changed labels that a node must not set on itself, sorted. */
export function forbiddenNodeLabels(next: Labels, old: Labels, profile: NamingProfile): string[] {
  const names = new Set([...Object.keys(next ?? {}), ...Object.keys(old ?? {})])
  return [...names].filter((name) => labelOf(next, name) !== labelOf(old, name) && isForbidden(name, profile)).sort()
}

function labelOf(labels: Labels, name: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, name) ? labels[name] : undefined
}

/** Labels of the reserved domains are forbidden unless the kubelet sets them; `node-restriction.` labels always are. */
function isForbidden(label: string, { domain, apiDomain }: NamingProfile): boolean {
  const slash = label.indexOf('/')
  const namespace = slash < 0 ? '' : label.slice(0, slash)
  if (isWithin(namespace, `node-restriction.${domain}`)) return true
  return (isWithin(namespace, domain) || isWithin(namespace, apiDomain)) && !isKubeletLabel(label, namespace, domain)
}

function isWithin(namespace: string, parent: string): boolean {
  return namespace === parent || namespace.endsWith(`.${parent}`)
}

/** Labels that a kubelet sets on its own node. */
function isKubeletLabel(label: string, namespace: string, domain: string): boolean {
  if (isWithin(namespace, `kubelet.${domain}`) || isWithin(namespace, `node.${domain}`)) return true
  return (
    nodeLabels.some((name) => label === `${domain}/${name}`) ||
    betaLabels.some((name) => label === `beta.${domain}/${name}`) ||
    topologyLabels.some((name) => label === `topology.${domain}/${name}` || label === `failure-domain.beta.${domain}/${name}`)
  )
}

const nodeLabels = ['hostname', 'os', 'arch']
const betaLabels = ['os', 'arch', 'instance-type']
const topologyLabels = ['zone', 'region']
