import { type DeepReadonly, type FieldError, field, Path } from '@krmkit/meta'
import { containerKinds, type Pod } from '../pod.ts'
import { checkProfiles } from './check-profiles.ts'
import { checkVolumes } from './check-volumes.ts'
import {
  type ContainerContext,
  effectiveContext,
  type GovernedContainer,
  type IdRule,
  type Policy,
  type PolicyNames,
  type PolicySpec,
  podContext,
  type Range,
} from './policy.ts'

/** The errors of a pod under a policy; none when the policy allows it as it is. */
export function checkPod(pod: DeepReadonly<Pod>, policy: Policy, names: PolicyNames): FieldError[] {
  const spec = policy.spec ?? {}
  const context = podContext(pod)
  const at = Path.of('spec').child('securityContext')
  const errors: FieldError[] = [
    ...groupErrors(spec.fsGroup, context.fsGroup === undefined ? [] : [context.fsGroup], at.child('fsGroup')),
    ...groupErrors(spec.supplementalGroups, context.supplementalGroups ?? [], at.child('supplementalGroups')),
    ...linuxErrors(spec, context, at.child('seLinuxOptions')),
  ]
  for (const [member, name] of [
    ['hostNetwork', 'Host network'],
    ['hostPID', 'Host PID'],
    ['hostIPC', 'Host IPC'],
  ] as const) {
    if (spec[member] !== true && pod.spec[member] === true)
      errors.push(field.invalid(at.child(member), true, `${name} is not allowed to be used`))
  }
  errors.push(...sysctlErrors(spec, context.sysctls ?? []), ...checkVolumes(pod, spec), ...runtimeClassErrors(pod, spec))
  for (const kind of containerKinds)
    for (const [i, container] of (pod.spec[kind] ?? []).entries())
      errors.push(...containerErrors(pod, container as GovernedContainer, { spec, at: Path.of('spec').child(kind).index(i) }))
  return [...errors, ...checkProfiles(pod, policy, names)]
}

interface ContainerPlace {
  readonly spec: DeepReadonly<PolicySpec>
  readonly at: Path
}

function containerErrors(pod: DeepReadonly<Pod>, container: GovernedContainer, { spec, at }: ContainerPlace): FieldError[] {
  const context = effectiveContext(pod, container)
  const here = at.child('securityContext')
  const groups = context.runAsGroup === undefined ? [] : [context.runAsGroup]
  const errors = [
    ...userErrors(spec.runAsUser, context, here),
    ...groupErrors(spec.runAsGroup, groups, here.child('runAsGroup')),
    ...linuxErrors(spec, context, here.child('seLinuxOptions')),
  ]
  if (spec.privileged !== true && context.privileged === true)
    errors.push(field.invalid(here.child('privileged'), true, 'Privileged containers are not allowed'))
  const procMount = context.procMount ?? 'Default'
  const allowedMounts = spec.allowedProcMountTypes ?? []
  if (!(allowedMounts.length === 0 ? ['Default'] : allowedMounts).includes(procMount))
    errors.push(field.invalid(here.child('procMount'), procMount, 'ProcMountType is not allowed'))
  errors.push(...capabilityErrors(spec, context, here.child('capabilities')), ...portErrors(spec, container, at))
  if (spec.readOnlyRootFilesystem === true && context.readOnlyRootFilesystem !== true) {
    const detail =
      context.readOnlyRootFilesystem === undefined
        ? 'ReadOnlyRootFilesystem may not be nil and must be set to true'
        : 'ReadOnlyRootFilesystem must be set to true'
    errors.push(field.invalid(here.child('readOnlyRootFilesystem'), context.readOnlyRootFilesystem ?? null, detail))
  }
  if (spec.allowPrivilegeEscalation === false && context.allowPrivilegeEscalation !== false) {
    const value = context.allowPrivilegeEscalation ?? null
    const detail = 'Allowing privilege escalation for containers is not allowed'
    errors.push(field.invalid(here.child('allowPrivilegeEscalation'), value, detail))
  }
  return errors
}

function userErrors(rule: DeepReadonly<IdRule> | undefined, context: DeepReadonly<ContainerContext>, at: Path): FieldError[] {
  const { runAsUser, runAsNonRoot } = context
  if (rule?.rule === 'MustRunAs') {
    if (runAsUser === undefined) return [field.required(at.child('runAsUser'), '')]
    if (isIn(rule.ranges ?? [], runAsUser)) return []
    return [field.invalid(at.child('runAsUser'), runAsUser, `must be in the ranges: ${rangesText(rule.ranges ?? [])}`)]
  }
  if (rule?.rule !== 'MustRunAsNonRoot') return []
  if (runAsNonRoot === undefined && runAsUser === undefined) return [field.required(at.child('runAsNonRoot'), 'must be true')]
  if (runAsNonRoot === false) return [field.invalid(at.child('runAsNonRoot'), false, 'must be true')]
  return runAsUser === 0 ? [field.invalid(at.child('runAsUser'), 0, 'running with the root UID is forbidden')] : []
}

function groupErrors(rule: DeepReadonly<IdRule> | undefined, groups: readonly number[], at: Path): FieldError[] {
  if (rule?.rule !== 'MustRunAs' && rule?.rule !== 'MayRunAs') return []
  const printed = `[${groups.join(' ')}]`
  if (groups.length === 0 && rule.rule === 'MustRunAs')
    return [field.invalid(at, printed, 'unable to validate empty groups against required ranges')]
  const ranges = rule.ranges ?? []
  return groups
    .filter((group) => !isIn(ranges, group))
    .map((group) => field.invalid(at, printed, `group ${group} must be in the ranges: ${rangesText(ranges)}`))
}

function linuxErrors({ seLinux }: DeepReadonly<PolicySpec>, context: DeepReadonly<ContainerContext>, at: Path): FieldError[] {
  if (seLinux?.rule !== 'MustRunAs') return []
  const given = context.seLinuxOptions
  if (given === undefined) return [field.required(at, '')]
  const wanted = seLinux.seLinuxOptions ?? {}
  return (['level', 'role', 'type', 'user'] as const)
    .filter((member) => (given[member] ?? '') !== (wanted[member] ?? ''))
    .map((member) => field.invalid(at.child(member), given[member] ?? '', `must be ${wanted[member] ?? ''}`))
}

function capabilityErrors(
  spec: DeepReadonly<PolicySpec>,
  { capabilities }: DeepReadonly<ContainerContext>,
  at: Path,
): FieldError[] {
  const {
    defaultAddCapabilities: byDefault = [],
    requiredDropCapabilities: required = [],
    allowedCapabilities: allowed = [],
  } = spec
  if (capabilities === undefined) {
    const isNeeded = byDefault.length > 0 || required.length > 0
    return isNeeded ? [field.invalid(at, null, 'required capabilities are not set on the securityContext')] : []
  }
  const { add = [], drop = [] } = capabilities
  const mayAdd = new Set([...byDefault, ...allowed])
  const refused = allowed.includes('*') ? [] : add.filter((name) => !mayAdd.has(name))
  const missing = drop.includes('ALL') ? [] : required.filter((name) => !drop.includes(name))
  return [
    ...refused.map((name) => field.invalid(at.child('add'), name, 'capability may not be added')),
    ...missing.map((name) => field.invalid(at.child('drop'), [...drop], `${name} is required to be dropped but was not found`)),
  ]
}

function portErrors({ hostPorts = [] }: DeepReadonly<PolicySpec>, { ports = [] }: GovernedContainer, at: Path): FieldError[] {
  const text = hostPorts.map(({ min, max }) => (min === max ? `${min}` : `${min}-${max}`)).join(',')
  return ports
    .map(({ hostPort = 0 }) => hostPort)
    .filter((port) => port > 0 && !isIn(hostPorts, port))
    .map((port) =>
      field.invalid(at.child('hostPort'), port, `Host port ${port} is not allowed to be used. Allowed ports: [${text}]`),
    )
}

function runtimeClassErrors({ spec: pod }: DeepReadonly<Pod>, { runtimeClass }: DeepReadonly<PolicySpec>): FieldError[] {
  const name = pod.runtimeClassName
  if (runtimeClass === undefined || name === undefined) return []
  const allowed = runtimeClass.allowedRuntimeClassNames ?? []
  if (allowed.includes('*') || allowed.includes(name)) return []
  return [field.invalid(Path.of('spec').child('runtimeClassName'), name, '')]
}

const safeSysctls = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
])

function sysctlErrors(spec: DeepReadonly<PolicySpec>, sysctls: readonly { readonly name: string }[]): FieldError[] {
  const at = Path.of('pod').child('spec').child('securityContext').child('sysctls')
  return sysctls.flatMap(({ name }, i) => {
    const isForbidden = matchesPattern(spec.forbiddenSysctls ?? [], name)
    const isAllowed = safeSysctls.has(name) || matchesPattern(spec.allowedUnsafeSysctls ?? [], name)
    if (isForbidden) return [field.forbidden(at.index(i), `sysctl ${JSON.stringify(name)} is not allowed`)]
    return isAllowed ? [] : [field.forbidden(at.index(i), `unsafe sysctl ${JSON.stringify(name)} is not allowed`)]
  })
}

function matchesPattern(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
}

function isIn(ranges: readonly DeepReadonly<Range>[], id: number): boolean {
  return ranges.some(({ min = 0, max = 0 }) => id >= min && id <= max)
}

function rangesText(ranges: readonly DeepReadonly<Range>[]): string {
  return `[${ranges.map(({ min = 0, max = 0 }) => `{${min} ${max}}`).join(' ')}]`
}
