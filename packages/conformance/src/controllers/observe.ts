/** What a side shows after a scenario, without what may differ between two runs. */
import { setTimeout } from 'node:timers/promises'
import { differing } from './known.ts'
import type { ScenarioNamespace, Stored } from './scenario.ts'

/** Resources of a namespace that controllers write. */
const collections = [
  ...['v1/pods', 'v1/services', 'v1/endpoints', 'v1/persistentvolumeclaims', 'v1/resourcequotas', 'v1/serviceaccounts'],
  ...['v1/replicationcontrollers', 'v1/configmaps', 'apps/v1/deployments', 'apps/v1/replicasets', 'apps/v1/statefulsets'],
  ...['apps/v1/daemonsets', 'apps/v1/controllerrevisions', 'batch/v1/jobs', 'batch/v1/cronjobs'],
  ...['autoscaling/v2/horizontalpodautoscalers', 'policy/v1/poddisruptionbudgets', 'discovery.k8s.io/v1/endpointslices'],
] as const

const quietMs = 6000
const maxWaitMs = 60_000
const pollMs = 500

/** Waits until nothing in the namespace has changed for some time. */
export async function untilQuiet(namespace: ScenarioNamespace): Promise<void> {
  const deadline = Date.now() + maxWaitMs
  let before = ''
  let since = Date.now()
  while (Date.now() < deadline && Date.now() - since < quietMs) {
    const now = (await objectsOf(namespace)).map(({ metadata: { uid, resourceVersion } }) => `${uid} ${resourceVersion}`).join()
    if (now !== before) since = Date.now()
    before = now
    await setTimeout(pollMs)
  }
}

/** The objects of a namespace, with the plural of their resource as kind, and the cluster-scoped ones of the scenario. */
async function objectsOf(namespace: ScenarioNamespace): Promise<Stored[]> {
  const found: Stored[] = []
  for (const collection of collections) {
    const plural = collection.slice(collection.lastIndexOf('/') + 1)
    found.push(...(await namespace.list(collection)).map((item) => ({ ...item, kind: plural })))
  }
  for (const path of [`/api/v1/namespaces/${namespace.name}`, ...namespace.clusterObjects]) {
    const { status, text } = await namespace.endpoint.send('GET', path)
    if (status === 200) found.push(JSON.parse(text) as Stored)
  }
  return found
}

/** One text for each object and each event, sorted. How often an event was repeated depends on the speed of a side. */
export async function observe(namespace: ScenarioNamespace): Promise<{ readonly objects: string[]; readonly events: string[] }> {
  const events = await namespace.list('v1/events')
  return {
    objects: (await objectsOf(namespace)).map((object) => normalized(objectText(object), namespace)).sort(),
    events: [...new Set(events.filter(isOfController).map((event) => normalized(eventText(event), namespace)))].sort(),
  }
}

/** Events of the nodes and of the scheduler are the same component on both sides. */
function isOfController({ source, reportingComponent }: Stored): boolean {
  const component: string = source?.component || reportingComponent
  return component !== 'kubelet' && component !== 'default-scheduler'
}

function eventText(event: Stored): string {
  const { type, reason, message, involvedObject, source, reportingComponent } = event
  const { kind, name, fieldPath, apiVersion } = involvedObject
  const from = `${source?.component}/${reportingComponent}`
  return `${type} ${reason} ${apiVersion} ${kind}/${name}${fieldPath === undefined ? '' : `#${fieldPath}`} by ${from}: ${message}`
}

function objectText(object: Stored): string {
  const { metadata, kind, apiVersion: _, ...members } = object
  const rest: Record<string, unknown> = { ...members }
  const { managedFields, ...kept } = metadata as Record<string, unknown>
  for (const name of ['resourceVersion', 'uid', 'creationTimestamp', 'selfLink', 'namespace']) delete kept[name]
  const managers = ((managedFields ?? []) as { manager: string; operation: string; subresource?: string }[])
    .map(({ manager, operation, subresource = '' }) => `${manager} ${operation} ${subresource}`)
    .sort()
  if (kind === 'endpoints' || kind === 'endpointslices') withoutTriggerTime(kept)
  if (Array.isArray(rest['subsets'])) rest['subsets'] = sortedMembers(rest['subsets'])
  if (Array.isArray(rest['endpoints'])) rest['endpoints'] = sortedMembers(rest['endpoints'])
  return `${kind} ${JSON.stringify(sorted({ metadata: kept, ...rest, managers }), undefined, 1)}`
}

/** krmkit does not write the time of the change that caused a write, and writes at once instead of in batches. */
function withoutTriggerTime(metadata: Record<string, unknown>): void {
  delete metadata.generation
  const { 'endpoints.kubernetes.io/last-change-trigger-time': _, ...annotations } = { ...(metadata.annotations ?? {}) } as Record<
    string,
    string
  >
  if (Object.keys(annotations).length === 0) delete metadata.annotations
  else metadata.annotations = annotations
}

const letters = 'bcdfghjklmnpqrstvwxz2456789'
const replacements: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/containerd:\/\/[0-9a-f]{64}/g, '<container>'],
  [/-----BEGIN[^"]*/g, '<certificate>'],
  [/\b(?:10|172)\.\d+\.\d+\.\d+\b/g, '<ip>'],
  [new RegExp(`-[${letters}]{6,10}-[${letters}]{5}\\b`, 'g'), '-<hash>-<random>'],
  [new RegExp(`-[${letters}]{6,10}\\b`, 'g'), '-<hash>'],
  [new RegExp(`-[${letters}]{5}\\b`, 'g'), '-<random>'],
  [
    new RegExp(
      `("(?:pod-template-hash|controller-revision-hash|controller.kubernetes.io/hash|deployment.kubernetes.io/pod-template-hash)": )"[${letters}]+"`,
      'g',
    ),
    '$1"<hash>"',
  ],
  [/\bnode-\d\b/g, '<node>'],
  [/"kube-api-access-\w+"/g, '"kube-api-access-<random>"'],
  [/-2\d{7}\b/g, '-<minutes>'],
  // Of references to objects that changed since.
  [/("resourceVersion": )"\d+"/g, '$1"<version>"'],
  [/("nodePort": )3\d{4}/g, '$1<port>'],
  [/"zone-\d"/g, '"<zone>"'],
  // The stock controller lists them in random order.
  [/<namespace>\/b <namespace>\/a/g, '<namespace>/a <namespace>/b'],
]

function normalized(text: string, { name }: ScenarioNamespace): string {
  let result = text.replaceAll(name, '<namespace>')
  for (const { pattern, replacement } of differing) result = result.replace(pattern, replacement)
  for (const [pattern, replacement] of replacements) result = result.replace(pattern, replacement)
  return result
}

/** Orders the members of objects, and conditions by their type. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(sorted)
    if (items.every((item) => isObject(item) && 'targetRef' in item)) return items.sort(byNameless)
    if (items.every((item) => isObject(item) && 'port' in item && 'protocol' in item)) return items.sort(byText)
    return items.every((item) => isObject(item) && typeof item['type'] === 'string' && 'status' in item)
      ? items.sort((a, b) => String((a as { type: string }).type).localeCompare(String((b as { type: string }).type)))
      : items
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, member]) => [key, sorted(member)]),
  )
}

/** Orders members by their text without names and addresses, which pods have by chance. */
function sortedMembers(members: unknown[]): unknown[] {
  return members.map(sorted).sort(byNameless)
}

function byNameless(a: unknown, b: unknown): number {
  return namelessText(a).localeCompare(namelessText(b))
}

function namelessText(value: unknown): string {
  return JSON.stringify(value)
    .replace(/\b10\.\d+\.\d+\.\d+\b/g, '')
    .replace(/[0-9a-f-]{36}/g, '')
    .replace(/-[a-z0-9]{5}"/g, '"')
    .replace(/(?:node|zone)-\d/g, '')
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a).localeCompare(JSON.stringify(b))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
