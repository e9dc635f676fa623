import { goQuote } from '@krmkit/meta/go-text'
import { type Check, type CheckedPod, containersOf, named, plural, quoted, sorted, type Violation } from './check.ts'
import { probeHosts } from './probe-hosts.ts'
import { seccompBaseline } from './seccomp.ts'
import { seLinuxOptions } from './selinux.ts'
import { sysctls } from './sysctls.ts'

/** The checks of the baseline standard. */

const hostNamespaceMembers = ['hostNetwork', 'hostPID', 'hostIPC'] as const

const hostNamespaces: Check = {
  id: 'hostNamespaces',
  level: 'baseline',
  versions: [
    {
      since: 0,
      run({ spec }) {
        const used = hostNamespaceMembers.filter((member) => spec[member] === true)
        if (used.length === 0) return undefined
        return { reason: 'host namespaces', detail: used.map((member) => `${member}=true`).join(', ') }
      },
    },
  ],
}

const hostPathVolumes: Check = {
  id: 'hostPathVolumes',
  level: 'baseline',
  versions: [
    {
      since: 0,
      run({ spec }) {
        const bad = (spec.volumes ?? []).filter((volume) => isPresent(volume['hostPath'])).map(({ name }) => name)
        return bad.length === 0 ? undefined : { reason: 'hostPath volumes', detail: named('volume', bad) }
      },
    },
  ],
}

const hostPorts: Check = {
  id: 'hostPorts',
  level: 'baseline',
  versions: [
    {
      since: 0,
      run(pod) {
        const bad: string[] = []
        const ports = new Set<number>()
        for (const container of containersOf(pod)) {
          const used = (container.ports ?? []).map(({ hostPort = 0 }) => hostPort).filter((port) => port !== 0)
          if (used.length > 0) bad.push(container.name)
          for (const port of used) ports.add(port)
        }
        if (bad.length === 0) return undefined
        const all = sorted([...ports].map(String))
        return {
          reason: 'hostPort',
          detail: `${named('container', bad)} ${plural('uses', bad.length, 'use')} ${plural('hostPort', all.length)} ${all.join(', ')}`,
        }
      },
    },
  ],
}

const privileged: Check = {
  id: 'privileged',
  level: 'baseline',
  versions: [
    {
      since: 0,
      run(pod) {
        const bad = containersOf(pod)
          .filter(({ securityContext }) => securityContext?.privileged === true)
          .map(({ name }) => name)
        if (bad.length === 0) return undefined
        return { reason: 'privileged', detail: `${named('container', bad)} must not set securityContext.privileged=true` }
      },
    },
  ],
}

const procMount: Check = {
  id: 'procMount',
  level: 'baseline',
  versions: [
    { since: 0, run: (pod) => (pod.usesUserNamespace ? undefined : unmaskedProc(pod)) },
    { since: 35, run: (pod) => (pod.spec.hostUsers === false ? undefined : unmaskedProc(pod)) },
  ],
}

/** Violated by containers with an unmasked `/proc`. */
export function unmaskedProc(pod: CheckedPod): Violation | undefined {
  const bad: string[] = []
  const values = new Set<string>()
  for (const { name, securityContext } of containersOf(pod)) {
    const value = securityContext?.procMount
    if (value === undefined || value === 'Default') continue
    bad.push(name)
    values.add(value)
  }
  if (bad.length === 0) return undefined
  return {
    reason: 'procMount',
    detail: `${named('container', bad)} must not set securityContext.procMount to ${quoted(sorted(values))}`,
  }
}

const harmlessCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

const capabilities: Check = {
  id: 'capabilities_baseline',
  level: 'baseline',
  versions: [
    {
      since: 0,
      run(pod) {
        const bad: string[] = []
        const added = new Set<string>()
        for (const { name, securityContext } of containersOf(pod)) {
          const wrong = (securityContext?.capabilities?.add ?? []).filter((each) => !harmlessCapabilities.has(each))
          if (wrong.length > 0) bad.push(name)
          for (const each of wrong) added.add(each)
        }
        if (bad.length === 0) return undefined
        return {
          reason: 'non-default capabilities',
          detail: `${named('container', bad)} must not include ${quoted(sorted(added))} in securityContext.capabilities.add`,
        }
      },
    },
  ],
}

const windowsHostProcess: Check = {
  id: 'windowsHostProcess',
  level: 'baseline',
  versions: [
    {
      since: 0,
      run(pod) {
        const bad = containersOf(pod)
          .filter(({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true)
          .map(({ name }) => name)
        const podForbidden = pod.spec.securityContext?.windowsOptions?.hostProcess === true
        const who = [...(podForbidden ? ['pod'] : []), ...(bad.length > 0 ? [named('container', bad)] : [])]
        if (who.length === 0) return undefined
        return {
          reason: 'hostProcess',
          detail: `${who.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`,
        }
      },
    },
  ],
}

const appArmorProfile: Check = {
  id: 'appArmorProfile',
  level: 'baseline',
  versions: [{ since: 0, run: checkAppArmor }],
}

function checkAppArmor(pod: CheckedPod): Violation | undefined {
  const values = new Set<string>()
  const isWrong = (type: string | undefined): boolean => {
    if (type === undefined || type === 'RuntimeDefault' || type === 'Localhost') return false
    values.add(type)
    return true
  }
  const who = isWrong(pod.spec.securityContext?.appArmorProfile?.type) ? ['pod'] : []
  const bad = containersOf(pod)
    .filter(({ securityContext }) => isWrong(securityContext?.appArmorProfile?.type))
    .map(({ name }) => name)
  if (bad.length > 0) who.push(named('container', bad))
  const prefix = `container.apparmor.security.beta.${pod.domain}/`
  const annotations: string[] = []
  for (const [key, value] of Object.entries(pod.annotations)) {
    if (key.startsWith(prefix) && !isAllowedAnnotation(value)) annotations.push(`${key}=${goQuote(value)}`)
  }
  if (annotations.length > 0) who.push(plural('annotation', annotations.length))
  if (who.length === 0) return undefined
  // Quotes inside of annotations are not escaped, as on kube-apiserver.
  const given = [...sorted(values), ...annotations.sort()]
  return {
    reason: plural('forbidden AppArmor profile', given.length),
    detail: `${who.join(' and ')} must not set AppArmor profile type to ${given.map((each) => `"${each}"`).join(', ')}`,
  }
}

function isAllowedAnnotation(value: string): boolean {
  return value === '' || value === 'runtime/default' || value.startsWith('localhost/')
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}

export const baselineChecks: readonly Check[] = [
  appArmorProfile,
  capabilities,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  probeHosts,
  privileged,
  procMount,
  seLinuxOptions,
  seccompBaseline,
  sysctls,
  windowsHostProcess,
]
