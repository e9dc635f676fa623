/** The specification of a pod, alone or inside a template. */
import {
  goStrings,
  nameRules,
  validateDns1123Subdomain,
  validateDns1123SubdomainWithUnderscore,
  validateInRange,
  validateIP,
  validateQualifiedNameFormat,
} from '@krmkit/meta'
import type { HostAlias, PodDNSConfig, PodSchedulingGate, PodSpec } from '../../types/core-v1.generated.ts'
import { checkAffinity, checkTopologySpread } from './affinity.ts'
import { type ContainerOptions, checkContainers, checkEphemeralContainers, checkInitContainers } from './containers.ts'
import type { FieldPath } from './field-path.ts'
import { checkDnsLabel, checkDnsSubdomain, checkLabels, checkQualifiedName } from './names.ts'
import { checkTolerations } from './node-selector.ts'
import { maxInt32 } from './numbers.ts'
import { checkHostNetwork, checkHostUsers, checkOs, checkPodSecurity, checkWindowsHostProcess } from './pod-security.ts'
import { checkResources } from './resources.ts'
import { isEmpty, isSet, type R } from './values.ts'
import { checkVolumes } from './volumes.ts'

/** Where the specification is found. */
export interface PodSpecOptions {
  /** A pod itself, not a template. */
  readonly isPod: boolean
  /** Name of the pod, for the claims made after it. */
  readonly podName?: string | undefined
}

const restartPolicies = ['Always', 'OnFailure', 'Never']
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
const preemptionPolicies = ['Never', 'PreemptLowerPriority']

/** All rules of `spec`, in the stock server's order. */
export function checkPodSpec(spec: R<PodSpec>, at: FieldPath, options: PodSpecOptions): void {
  const volumes = checkVolumes(spec.volumes, at.child('volumes'), { podName: options.podName })
  checkAllContainers(spec, at, {
    volumes,
    claims: new Set((spec.resourceClaims ?? []).map((claim) => claim.name)),
    gracePeriodSeconds: Number(spec.terminationGracePeriodSeconds ?? 0),
    restartPolicy: spec.restartPolicy,
    hostUsers: spec.hostUsers !== false,
  })
  checkHostNetwork(spec, at, options)
  checkRequiredChoice(spec.restartPolicy, at.child('restartPolicy'), restartPolicies)
  checkRequiredChoice(spec.dnsPolicy, at.child('dnsPolicy'), dnsPolicies)
  checkLabels(spec.nodeSelector, at.child('nodeSelector'))
  checkPodSecurity(spec, at)
  checkAffinity(spec.affinity, at.child('affinity'))
  checkDnsConfig(spec.dnsConfig, at.child('dnsConfig'), spec.dnsPolicy)
  for (const [i, gate] of (spec.readinessGates ?? []).entries()) {
    checkQualifiedName(gate.conditionType, at.child('readinessGates').index(i).child('conditionType'))
  }
  checkSchedulingGates(spec.schedulingGates, at.child('schedulingGates'))
  checkTopologySpread(spec.topologySpreadConstraints, at.child('topologySpreadConstraints'))
  checkWindowsHostProcess(spec, at)
  checkHostUsers(spec, at)
  checkReferences(spec, at)
  checkScheduling(spec, at)
  checkOs(spec, at)
}

function checkAllContainers(spec: R<PodSpec>, at: FieldPath, options: ContainerOptions): void {
  const regular = spec.containers ?? []
  const init = spec.initContainers ?? []
  checkContainers(regular, at.child('containers'), options)
  checkInitContainers(init, at.child('initContainers'), { ...options, regular })
  checkEphemeralContainers(spec.ephemeralContainers, at.child('ephemeralContainers'), { ...options, regular, init })
}

function checkRequiredChoice(value: string | undefined, at: FieldPath, allowed: readonly string[]): void {
  if (isEmpty(value)) at.required()
  else if (!allowed.includes(value)) at.notSupported(value, allowed)
}

/** Names of other objects, deadlines and host names. */
function checkReferences(spec: R<PodSpec>, at: FieldPath): void {
  const { serviceAccountName, nodeName, activeDeadlineSeconds, hostname, subdomain } = spec
  if (!isEmpty(serviceAccountName)) checkDnsSubdomain(serviceAccountName, at.child('serviceAccountName'))
  if (!isEmpty(nodeName)) checkDnsSubdomain(nodeName, at.child('nodeName'))
  if (isSet(activeDeadlineSeconds)) {
    at.child('activeDeadlineSeconds').invalidAll(activeDeadlineSeconds, validateInRange(activeDeadlineSeconds, 1, maxInt32))
  }
  if (!isEmpty(hostname)) checkDnsLabel(hostname, at.child('hostname'))
  if (!isEmpty(subdomain)) checkDnsLabel(subdomain, at.child('subdomain'))
}

function checkScheduling(spec: R<PodSpec>, at: FieldPath): void {
  checkTolerations(spec.tolerations, at.child('tolerations'))
  checkHostAliases(spec.hostAliases, at.child('hostAliases'))
  const { priorityClassName, runtimeClassName, preemptionPolicy, overhead } = spec
  if (!isEmpty(priorityClassName)) checkDnsSubdomain(priorityClassName, at.child('priorityClassName'))
  if (isSet(runtimeClassName))
    at.child('runtimeClassName').invalidAll(runtimeClassName, nameRules.dns1123Subdomain(runtimeClassName, false))
  if (isSet(preemptionPolicy)) checkRequiredChoice(preemptionPolicy, at.child('preemptionPolicy'), preemptionPolicies)
  if (isSet(overhead)) checkResources({ limits: overhead }, at.child('overhead'), { claims: new Set() })
}

function checkHostAliases(aliases: readonly R<HostAlias>[] | null | undefined, at: FieldPath): void {
  for (const [i, alias] of (aliases ?? []).entries()) {
    at.index(i).child('ip').invalidAll(alias.ip, validateIP(alias.ip))
    for (const [j, name] of (alias.hostnames ?? []).entries()) checkDnsSubdomain(name, at.index(i).child('hostnames').index(j))
  }
}

/** Told of the item, since the gate is its name. */
function checkSchedulingGates(gates: readonly R<PodSchedulingGate>[] | null | undefined, at: FieldPath): void {
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

function checkDnsConfig(config: R<PodDNSConfig> | null | undefined, at: FieldPath, policy: string | undefined): void {
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
  for (const [i, server] of servers.entries()) at.child('nameservers').index(i).invalidAll(server, validateIP(server))
  checkSearches(config.searches ?? [], at.child('searches'))
  for (const [i, option] of (config.options ?? []).entries()) {
    if (isEmpty(option.name)) at.child('options').index(i).required('must not be empty')
  }
}

function checkSearches(searches: readonly string[], at: FieldPath): void {
  if (searches.length > maxSearches) at.invalidText(goStrings(searches), `must not have more than ${maxSearches} search paths`)
  if (searches.join(' ').length > maxSearchCharacters) {
    at.invalidText(
      goStrings(searches),
      `must not have more than ${maxSearchCharacters} characters (including spaces) in the search list`,
    )
  }
  for (const [i, search] of searches.entries()) {
    const name = search.endsWith('.') ? search.slice(0, -1) : search
    const relaxed = at.report.context.features.release.atLeast('1.33')
    if (!relaxed) at.index(i).invalidAll(name, validateDns1123Subdomain(name))
    else if (search !== '.') at.index(i).invalidAll(name, validateDns1123SubdomainWithUnderscore(name))
  }
}
