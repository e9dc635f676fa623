import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { ownMember } from './objects.ts'

/** Deprecated fields, annotations and labels of kinds that are not deprecated themselves. */

/** The deprecation of a member. */
export interface DeprecatedMember {
  readonly deprecated?: string
  /** First release in which the member has no effect. */
  readonly removed?: string
  /** Advice, such as `use "x"`. */
  readonly advice?: string
}

/** A deprecated member of an object. */
export interface FoundMember extends DeprecatedMember {
  readonly path: string
  readonly name: string
  readonly sort: 'field' | 'annotation' | 'label'
}

/** Annotations of objects by kind. */
const annotations: Readonly<Record<string, Readonly<Record<string, DeprecatedMember>>>> = {
  Ingress: { 'kubernetes.io/ingress.class': { deprecated: '1.18', advice: 'use spec.ingressClassName' } },
  PersistentVolumeClaim: {
    'volume.beta.kubernetes.io/storage-class': { deprecated: '1.8', advice: 'use spec.storageClassName' },
  },
  PersistentVolume: {
    'volume.beta.kubernetes.io/storage-class': { deprecated: '1.8', advice: 'use spec.storageClassName' },
    'volume.beta.kubernetes.io/mount-options': { deprecated: '1.31', advice: 'use spec.mountOptions' },
  },
  ServiceAccount: {
    'kubernetes.io/enforce-mountable-secrets': {
      deprecated: '1.32',
      advice: 'use separate namespaces to isolate access to mounted secrets',
    },
  },
  Service: {
    'service.alpha.kubernetes.io/tolerate-unready-endpoints': { deprecated: '1.11', advice: 'use spec.publishNotReadyAddresses' },
    'service.kubernetes.io/topology-aware-hints': {
      deprecated: '1.27',
      advice: 'use the annotation service.kubernetes.io/topology-mode',
    },
  },
}

/** Annotations of pods; a name that ends with a slash is a prefix. */
const podAnnotations: Readonly<Record<string, DeprecatedMember>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': { removed: '1.16', advice: 'use spec.priorityClassName' },
  'security.alpha.kubernetes.io/sysctls': { removed: '1.11', advice: 'use spec.securityContext.sysctls' },
  'security.alpha.kubernetes.io/unsafe-sysctls': { removed: '1.11', advice: 'use spec.securityContext.sysctls' },
  'seccomp.security.alpha.kubernetes.io/pod': {
    deprecated: '1.19',
    removed: '1.27',
    advice: 'use spec.securityContext.seccompProfile',
  },
  'container.seccomp.security.alpha.kubernetes.io/': {
    deprecated: '1.19',
    removed: '1.27',
    advice: 'use securityContext.seccompProfile of the container',
  },
  'container.apparmor.security.beta.kubernetes.io/': {
    deprecated: '1.30',
    advice: 'use securityContext.appArmorProfile of the container',
  },
}

const nodeLabels: Readonly<Record<string, DeprecatedMember>> = {
  'beta.kubernetes.io/arch': { deprecated: '1.14', advice: 'use kubernetes.io/arch' },
  'beta.kubernetes.io/os': { deprecated: '1.14', advice: 'use kubernetes.io/os' },
  'failure-domain.beta.kubernetes.io/region': { deprecated: '1.17', advice: 'use topology.kubernetes.io/region' },
  'failure-domain.beta.kubernetes.io/zone': { deprecated: '1.17', advice: 'use topology.kubernetes.io/zone' },
  'beta.kubernetes.io/instance-type': { deprecated: '1.17', advice: 'use node.kubernetes.io/instance-type' },
}

const volumeSources: Readonly<Record<string, DeprecatedMember>> = {
  photonPersistentDisk: { deprecated: '1.11', removed: '1.16' },
  gitRepo: { deprecated: '1.11', removed: '1.33', advice: 'use an init container that clones into an emptyDir' },
  scaleIO: { deprecated: '1.16', removed: '1.22', advice: 'use a CSI driver' },
  flocker: { deprecated: '1.22', removed: '1.25', advice: 'use a CSI driver' },
  storageos: { deprecated: '1.22', removed: '1.25', advice: 'use a CSI driver' },
  quobyte: { deprecated: '1.22', removed: '1.25', advice: 'use a CSI driver' },
  glusterfs: { deprecated: '1.25', removed: '1.26', advice: 'use a CSI driver' },
  cephfs: { deprecated: '1.28', removed: '1.31', advice: 'use a CSI driver' },
  rbd: { deprecated: '1.28', removed: '1.31', advice: 'use a CSI driver' },
}

/** Fields below `spec` by kind. */
const fields: Readonly<Record<string, Readonly<Record<string, DeprecatedMember>>>> = {
  Service: { topologyKeys: { deprecated: '1.21', removed: '1.22', advice: 'use topology aware routing' } },
  Node: {
    configSource: { deprecated: '1.22', removed: '1.24' },
    externalID: { deprecated: '1.11', advice: 'it has no effect' },
  },
  PersistentVolume: volumeSources,
}

/** Path of the pod template by kind; empty for a pod. */
const templates: Readonly<Record<string, readonly string[]>> = {
  Pod: [],
  PodTemplate: ['template'],
  ReplicationController: ['spec', 'template'],
  Deployment: ['spec', 'template'],
  ReplicaSet: ['spec', 'template'],
  DaemonSet: ['spec', 'template'],
  StatefulSet: ['spec', 'template'],
  Job: ['spec', 'template'],
  CronJob: ['spec', 'jobTemplate', 'spec', 'template'],
}

/** Returns the deprecated members of an object of a built-in kind. */
export function deprecatedMembers(kind: string, object: JsonObject): FoundMember[] {
  const found: FoundMember[] = []
  collectAnnotations(object, '', annotations[kind] ?? {}, found)
  const spec = objectAt(object, ['spec'])
  if (spec !== undefined) collectNames(spec, 'spec', fields[kind] ?? {}, found)
  const steps = Object.hasOwn(templates, kind) ? templates[kind] : undefined
  const template = steps === undefined ? undefined : objectAt(object, steps)
  if (template !== undefined && steps !== undefined) collectPod(template, steps.length === 0 ? '' : `${steps.join('.')}.`, found)
  return found
}

function collectPod(template: JsonObject, at: string, found: FoundMember[]): void {
  collectAnnotations(template, at, podAnnotations, found)
  const spec = objectAt(template, ['spec'])
  if (spec === undefined) return
  const path = `${at}spec`
  for (const label of Object.keys(objectAt(spec, ['nodeSelector']) ?? {}))
    pushLabel(label, `${path}.nodeSelector[${label}]`, found)
  for (const [i, constraint] of listAt(spec, 'topologySpreadConstraints').entries())
    pushLabel(ownMember(constraint, 'topologyKey'), `${path}.topologySpreadConstraints[${i}].topologyKey`, found)
  for (const [i, volume] of listAt(spec, 'volumes').entries()) collectNames(volume, `${path}.volumes[${i}]`, volumeSources, found)
  collectAffinity(spec, path, found)
}

function collectAffinity(spec: JsonObject, path: string, found: FoundMember[]): void {
  const nodes = objectAt(spec, ['affinity', 'nodeAffinity'])
  if (nodes === undefined) return
  const here = `${path}.affinity.nodeAffinity`
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'
  const expressions = (term: JsonObject, place: string): void => {
    for (const [i, each] of listAt(term, 'matchExpressions').entries())
      pushLabel(ownMember(each, 'key'), `${place}.matchExpressions[${i}].key`, found)
  }
  for (const [i, term] of listAt(objectAt(nodes, [required]) ?? {}, 'nodeSelectorTerms').entries())
    expressions(term, `${here}.${required}.nodeSelectorTerms[${i}]`)
  for (const [i, term] of listAt(nodes, preferred).entries())
    expressions(objectAt(term, ['preference']) ?? {}, `${here}.${preferred}[${i}].preference`)
}

function pushLabel(label: unknown, path: string, found: FoundMember[]): void {
  if (typeof label !== 'string' || !Object.hasOwn(nodeLabels, label)) return
  found.push({ sort: 'label', path, name: label, ...nodeLabels[label] })
}

function collectNames(
  object: JsonObject,
  at: string,
  facts: Readonly<Record<string, DeprecatedMember>>,
  found: FoundMember[],
): void {
  for (const [name, value] of Object.entries(object))
    if (Object.hasOwn(facts, name) && value !== null) found.push({ sort: 'field', path: `${at}.${name}`, name, ...facts[name] })
}

function collectAnnotations(
  object: JsonObject,
  at: string,
  facts: Readonly<Record<string, DeprecatedMember>>,
  found: FoundMember[],
): void {
  for (const name of Object.keys(objectAt(object, ['metadata', 'annotations']) ?? {})) {
    const prefix = name.slice(0, name.indexOf('/') + 1)
    const fact = Object.hasOwn(facts, name) ? facts[name] : Object.hasOwn(facts, prefix) ? facts[prefix] : undefined
    if (fact !== undefined) found.push({ sort: 'annotation', path: `${at}metadata.annotations[${name}]`, name, ...fact })
  }
}

function objectAt(object: JsonObject, steps: readonly string[]): JsonObject | undefined {
  let at: unknown = object
  for (const step of steps) at = isJsonObject(at) ? ownMember(at, step) : undefined
  return isJsonObject(at) ? at : undefined
}

function listAt(object: JsonObject, name: string): JsonObject[] {
  const list = ownMember(object, name)
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}
