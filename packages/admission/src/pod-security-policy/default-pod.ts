import type { DeepReadonly } from '@krmkit/meta'
import { type Pod, withContainers } from '../pod.ts'
import {
  type ContainerContext,
  effectiveContext,
  type GovernedContainer,
  type IdRule,
  type PodContext,
  type Policy,
  type PolicyNames,
  type PolicySpec,
  podContext,
} from './policy.ts'

/** Returns the pod with the members that a policy sets where the pod leaves them open. Unchanged parts are shared with the original. */
export function defaultPod(pod: DeepReadonly<Pod>, policy: Policy, names: PolicyNames): Pod {
  const spec = policy.spec ?? {}
  const annotations = { ...pod.metadata.annotations }
  const context = defaultPodContext(podContext(pod), spec)
  const seccomp = policy.metadata.annotations?.[names.seccompDefault]
  if (seccomp !== undefined && annotations[names.seccompPod] === undefined && podContext(pod).seccompProfile === undefined)
    annotations[names.seccompPod] = seccomp
  const runtimeClass = pod.spec.runtimeClassName ?? spec.runtimeClass?.defaultRuntimeClassName
  const settled = {
    ...(pod as Pod),
    spec: {
      ...(pod as Pod).spec,
      ...(Object.keys(context).length === 0 ? {} : { securityContext: context }),
      ...(runtimeClass === undefined ? {} : { runtimeClassName: runtimeClass }),
    },
  }
  const appArmor = policy.metadata.annotations?.[names.appArmorDefault]
  const next = withContainers(settled.spec, (container) => {
    const key = `${names.appArmorContainer}${container.name}`
    if (appArmor !== undefined) annotations[key] ??= appArmor
    return defaultContainer(settled, container, spec) as typeof container
  })
  const annotated = Object.keys(annotations).length === 0 ? {} : { annotations }
  return { ...settled, metadata: { ...settled.metadata, ...annotated }, spec: next }
}

function defaultPodContext(given: DeepReadonly<PodContext>, spec: DeepReadonly<PolicySpec>): PodContext {
  const groups = firstId(spec.supplementalGroups)
  const fsGroup = firstId(spec.fsGroup)
  const linux = mandatoryLinux(spec)
  const context = { ...given } as PodContext
  if (groups !== undefined) context.supplementalGroups ??= [groups]
  if (fsGroup !== undefined) context.fsGroup ??= fsGroup
  if (linux !== undefined) context.seLinuxOptions ??= linux
  return context
}

function defaultContainer(
  pod: DeepReadonly<Pod>,
  container: GovernedContainer,
  spec: DeepReadonly<PolicySpec>,
): GovernedContainer {
  const effective = effectiveContext(pod, container)
  const context = { ...container.securityContext } as ContainerContext
  const user = firstId(spec.runAsUser)
  const group = firstId(spec.runAsGroup)
  const linux = mandatoryLinux(spec)
  if (effective.runAsUser === undefined && user !== undefined) context.runAsUser = user
  if (effective.runAsGroup === undefined && group !== undefined) context.runAsGroup = group
  if (effective.seLinuxOptions === undefined && linux !== undefined) context.seLinuxOptions = linux
  const needsNonRoot = spec.runAsUser?.rule === 'MustRunAsNonRoot'
  if (needsNonRoot && effective.runAsNonRoot === undefined && effective.runAsUser === undefined) context.runAsNonRoot = true
  defaultCapabilities(context, spec)
  if (spec.readOnlyRootFilesystem === true) context.readOnlyRootFilesystem ??= true
  const escalation = spec.defaultAllowPrivilegeEscalation ?? (spec.allowPrivilegeEscalation === false ? false : undefined)
  if (escalation !== undefined) context.allowPrivilegeEscalation ??= escalation
  return Object.keys(context).length === 0 ? container : { ...container, securityContext: context }
}

function defaultCapabilities(context: ContainerContext, spec: DeepReadonly<PolicySpec>): void {
  const dropped = new Set(context.capabilities?.drop)
  const added = new Set(context.capabilities?.add)
  for (const name of spec.requiredDropCapabilities ?? []) dropped.add(name)
  for (const name of spec.defaultAddCapabilities ?? []) if (!dropped.has(name)) added.add(name)
  if (dropped.size === 0 && added.size === 0) return
  context.capabilities = {
    ...context.capabilities,
    ...(added.size === 0 ? {} : { add: [...added].sort() }),
    ...(dropped.size === 0 ? {} : { drop: [...dropped].sort() }),
  }
}

function firstId(rule: DeepReadonly<IdRule> | undefined): number | undefined {
  return rule?.rule === 'MustRunAs' ? rule.ranges?.[0]?.min : undefined
}

function mandatoryLinux({ seLinux }: DeepReadonly<PolicySpec>) {
  return seLinux?.rule === 'MustRunAs' ? (seLinux.seLinuxOptions as ContainerContext['seLinuxOptions']) : undefined
}
