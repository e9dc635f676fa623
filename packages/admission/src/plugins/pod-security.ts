import { createFeatures, type DeepReadonly, type Features, type NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { AdmissionPlugin, AdmissionTarget } from '../interfaces.ts'
import type { Pod } from '../pod.ts'
import { PodSecurityAdmission } from '../pod-security/admission.ts'
import { defaultPodSecurity, type PodSecurityConfiguration } from '../pod-security/configuration.ts'
import { newestVersion } from '../pod-security/evaluator.ts'

export interface PodSecurityOptions {
  readonly profile: NamingProfile
  readonly configuration?: PodSecurityConfiguration
  /** Relaxes checks for pods in user namespaces (gate `UserNamespacesPodSecurityStandards`). Default false. */
  readonly relaxForUserNamespaces?: boolean
  /** The release whose version of the standards is the newest, and the gate `ProbeHostPodSecurityStandards`. Default: 1.33. */
  readonly features?: Features
}

/** Resources with a pod template, by group. Their violations are warned about and audited, not refused. */
const workloads: Readonly<Record<string, readonly string[]>> = {
  '': ['replicationcontrollers', 'podtemplates'],
  apps: ['replicasets', 'deployments', 'statefulsets', 'daemonsets'],
  batch: ['jobs', 'cronjobs'],
}

/** Pod subresources that do not change the pod spec. */
const ignoredSubresources = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'])

/**
 * Applies the Pod Security Standards that the labels of a namespace select: enforces, warns and audits.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { podSecurity } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' }
 * const cluster = new ObjectSet()
 * cluster.put({ group: '', resource: 'namespaces' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } })
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const spec = { hostNetwork: true, containers: [{ name: 'app', image: 'app:1' }] }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec }
 * const { status } = await admit({ ...pods, object }, [podSecurity({ profile: stockProfile })], cluster)
 * status?.message // 'pods "web" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'
 * ```
 */
export function podSecurity(options: PodSecurityOptions): AdmissionPlugin {
  const { profile, configuration = defaultPodSecurity, relaxForUserNamespaces = false, features = createFeatures() } = options
  const admission = new PodSecurityAdmission(profile, configuration, {
    relaxForUserNamespaces,
    newest: newestVersion(features),
    checksProbeHosts: gateEnabled('ProbeHostPodSecurityStandards', features),
  })
  return {
    name: 'PodSecurity',
    handles,
    validate(object, attributes, context) {
      if (object === undefined) return
      const { group, resource } = attributes.resource
      if (group === '' && resource === 'namespaces') return admission.validateNamespace(object, attributes, context)
      if (group === '' && resource === 'pods') {
        return admission.validatePod(object as DeepReadonly<Pod>, attributes, context)
      }
      return admission.validateWorkload(object, attributes, context)
    },
  }
}

function handles({ operation, resource: { group, resource }, subresource }: AdmissionTarget): boolean {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return false
  if (group === '' && resource === 'namespaces') return subresource === ''
  if (group === '' && resource === 'pods') return !ignoredSubresources.has(subresource)
  return subresource === '' && Object.hasOwn(workloads, group) && (workloads[group]?.includes(resource) ?? false)
}
