/** The specification of a pod, alone or in a template. */

import type { Work } from '@krmkit/base/work'
import { nameRules } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goStrings } from '@krmkit/meta/go-text'
import {
  validateDns1123Subdomain,
  validateDns1123SubdomainWithUnderscore,
  validateInRange,
  validateQualifiedNameFormat,
} from '@krmkit/meta/names'
import type { HostAlias, PodDNSConfig, PodSchedulingGate, PodSpec } from '../../types/core-v1.generated.ts'
import { validateAffinity, validateTopologySpread } from './affinity.ts'
import { type ContainerOptions, validateContainers, validateEphemeralContainers, validateInitContainers } from './containers.ts'
import { validateRequiredEnum } from './enums.ts'
import { validateFileVolumes } from './env-files.ts'
import type { FieldPath } from './field-path.ts'
import { forEachItem } from './for-each.ts'
import { validateDnsLabel, validateDnsSubdomain, validateLabels, validateQualifiedName } from './names.ts'
import { validateTolerations } from './node-selector.ts'
import { maxInt32 } from './numbers.ts'
import { validateIpAddress } from './older-addresses.ts'
import { validatePodClaims, validatePodResources } from './pod-resources.ts'
import {
  validateHostNetwork,
  validateHostname,
  validateHostUsers,
  validateOs,
  validatePodSecurity,
  validateWindowsHostProcess,
} from './pod-security.ts'
import { validateResources } from './resources.ts'
import { isEmpty, isSet, type R } from './values.ts'
import { validateVolumes } from './volumes.ts'

/** Where the specification occurs. */
export interface PodSpecOptions {
  /** A pod, not a template. */
  readonly isPod: boolean
  /** Name of the pod, from which the names of ephemeral claims derive. */
  readonly podName?: string | undefined
}

const restartPolicies = ['Always', 'OnFailure', 'Never']
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const preemptionPolicies = ['PreemptLowerPriority', 'Never']

/** All rules of `spec`, in the order of kube-apiserver. */
export function* validatePodSpec(spec: R<PodSpec>, at: FieldPath, options: PodSpecOptions): Work {
  const volumes = yield* validateVolumes(spec.volumes, at.child('volumes'), { podName: options.podName })
  const claims = new Set((spec.resourceClaims ?? []).map((claim) => claim.name).filter((name) => !isEmpty(name)))
  validatePodClaims(spec.resourceClaims, at.child('resourceClaims'))
  yield* validateAllContainers(spec, at, {
    volumes,
    claims,
    gracePeriodSeconds: Number(spec.terminationGracePeriodSeconds ?? 0),
    restartPolicy: spec.restartPolicy,
    hostUsers: spec.hostUsers !== false,
    os: spec.os,
  })
  if (gateEnabled('PodLevelResources', at.errors.context.features)) validatePodResources(spec, at.child('resources'), claims)
  validateHostNetwork(spec, at, options)
  validateRequiredEnum(spec.restartPolicy, at.child('restartPolicy'), restartPolicies)
  validateRequiredEnum(spec.dnsPolicy, at.child('dnsPolicy'), dnsPolicies)
  yield* validateLabels(spec.nodeSelector, at.child('nodeSelector'))
  validatePodSecurity(spec, at)
  yield* validateAffinity(spec.affinity, at.child('affinity'))
  validateDnsConfig(spec.dnsConfig, at.child('dnsConfig'), spec.dnsPolicy)
  for (const [i, gate] of (spec.readinessGates ?? []).entries()) {
    validateQualifiedName(gate.conditionType, at.child('readinessGates').index(i).child('conditionType'))
  }
  validateSchedulingGates(spec.schedulingGates, at.child('schedulingGates'))
  yield* validateTopologySpread(spec.topologySpreadConstraints, at.child('topologySpreadConstraints'))
  validateWindowsHostProcess(spec, at)
  validateHostUsers(spec, at)
  validateHostname(spec, at)
  validateReferences(spec, at)
  yield* validateScheduling(spec, at)
  validateOs(spec, at)
  validateSchedulingGroup(spec, at.child('schedulingGroup'))
  validateFileVolumes(spec, at)
}

/** The group of pods that a pod of 1.36 is scheduled with. */
function validateSchedulingGroup(spec: R<PodSpec>, at: FieldPath): void {
  const { schedulingGroup } = spec as { readonly schedulingGroup?: { readonly podGroupName?: string | null } | null }
  if (!isSet(schedulingGroup)) return
  const { podGroupName } = schedulingGroup
  if (!isSet(podGroupName)) at.child('podGroupName').invalid(null, 'must specify one of: `podGroupName`')
  else validateDnsSubdomain(podGroupName, at.child('podGroupName'))
}

function* validateAllContainers(spec: R<PodSpec>, at: FieldPath, options: ContainerOptions): Work {
  const regular = spec.containers ?? []
  const init = spec.initContainers ?? []
  yield* validateContainers(regular, at.child('containers'), options)
  yield* validateInitContainers(init, at.child('initContainers'), { regular, ...options })
  yield* validateEphemeralContainers(spec.ephemeralContainers, at.child('ephemeralContainers'), { regular, init, ...options })
}

/** References by name, deadlines and host names. */
function validateReferences(spec: R<PodSpec>, at: FieldPath): void {
  const { serviceAccountName, nodeName, activeDeadlineSeconds, hostname, subdomain } = spec
  if (!isEmpty(serviceAccountName)) validateDnsSubdomain(serviceAccountName, at.child('serviceAccountName'))
  if (!isEmpty(nodeName)) validateDnsSubdomain(nodeName, at.child('nodeName'))
  if (isSet(activeDeadlineSeconds)) {
    at.child('activeDeadlineSeconds').invalidAll(activeDeadlineSeconds, validateInRange(activeDeadlineSeconds, 1, maxInt32))
  }
  if (!isEmpty(hostname)) validateDnsLabel(hostname, at.child('hostname'))
  if (!isEmpty(subdomain)) validateDnsLabel(subdomain, at.child('subdomain'))
}

function* validateScheduling(spec: R<PodSpec>, at: FieldPath): Work {
  yield* validateTolerations(spec.tolerations, at.child('tolerations'))
  yield* validateHostAliases(spec.hostAliases, at.child('hostAliases'))
  const { priorityClassName, runtimeClassName, preemptionPolicy, overhead } = spec
  if (!isEmpty(priorityClassName)) validateDnsSubdomain(priorityClassName, at.child('priorityClassName'))
  if (isSet(runtimeClassName))
    at.child('runtimeClassName').invalidAll(runtimeClassName, nameRules.dns1123Subdomain(runtimeClassName, false))
  if (isSet(preemptionPolicy)) validateRequiredEnum(preemptionPolicy, at.child('preemptionPolicy'), preemptionPolicies)
  if (isSet(overhead)) validateResources({ limits: overhead }, at.child('overhead'), { claims: new Set() })
}

function* validateHostAliases(aliases: readonly R<HostAlias>[] | null | undefined, at: FieldPath): Work {
  yield* forEachItem(aliases, (alias, i) => {
    validateIpAddress(alias.ip, at.index(i).child('ip'))
    for (const [j, name] of (alias.hostnames ?? []).entries()) validateDnsSubdomain(name, at.index(i).child('hostnames').index(j))
  })
}

/** Errors have the path of the item, not of its name. */
function validateSchedulingGates(gates: readonly R<PodSchedulingGate>[] | null | undefined, at: FieldPath): void {
  const names = new Set<string>()
  for (const [i, gate] of (gates ?? []).entries()) {
    at.index(i).invalidAll(gate.name, validateQualifiedNameFormat(gate.name))
    if (names.has(gate.name)) at.index(i).duplicate(gate.name)
    names.add(gate.name)
  }
}

const maxNameservers = 3
const maxSearches = 32
const maxSearchCharacters = 2048

function validateDnsConfig(config: R<PodDNSConfig> | null | undefined, at: FieldPath, policy: string | undefined): void {
  if (policy === 'None') {
    if (!isSet(config)) {
      at.required('must provide `dnsConfig` when `dnsPolicy` is None')
      return
    }
    if (isEmpty(config.nameservers)) {
      at.child('nameservers').required('must provide at least one DNS nameserver when `dnsPolicy` is None')
      return
    }
  }
  if (!isSet(config)) return
  const servers = config.nameservers ?? []
  if (servers.length > maxNameservers)
    at.child('nameservers').invalidText(goStrings(servers), `must not have more than ${maxNameservers} nameservers`)
  for (const [i, server] of servers.entries()) validateIpAddress(server, at.child('nameservers').index(i))
  validateSearches(config.searches ?? [], at.child('searches'))
  for (const [i, option] of (config.options ?? []).entries()) {
    if (isEmpty(option.name)) at.child('options').index(i).required('must not be empty')
  }
}

function validateSearches(searches: readonly string[], at: FieldPath): void {
  if (searches.length > maxSearches) at.invalidText(goStrings(searches), `must not have more than ${maxSearches} search paths`)
  if (searches.join(' ').length > maxSearchCharacters) {
    at.invalidText(
      goStrings(searches),
      `must not have more than ${maxSearchCharacters} characters (including spaces) in the search list`,
    )
  }
  for (const [i, search] of searches.entries()) {
    const name = search.endsWith('.') ? search.slice(0, -1) : search
    const relaxed = gateEnabled('RelaxedDNSSearchValidation', at.errors.context.features)
    if (!relaxed) at.index(i).invalidAll(name, validateDns1123Subdomain(name))
    else if (search !== '.') at.index(i).invalidAll(name, validateDns1123SubdomainWithUnderscore(name))
  }
}
