import { createFeatures, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { podSecurity } from '../plugins/pod-security.ts'
import { clusterOf, refusalOf, runAdmission } from '../testing/run-admission.ts'

const prefix = 'pod-security.kubernetes.io/'
const labelled = (labels: Record<string, string>) => ({
  metadata: { labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [prefix + key, value])) },
})
const plugin = podSecurity({ profile: stockProfile })
const container = (securityContext: object = {}, rest: object = {}) => ({ name: 'c', image: 'i', securityContext, ...rest })
const pod = (spec: object, metadata: object = {}) => ({ metadata, spec: { containers: [container()], ...spec } })

/** The violations of a pod at a level, without the common prefix. */
async function against(level: string, version: string, object: object, on = plugin): Promise<string> {
  const cluster = clusterOf({ 'namespaces//ns': labelled({ enforce: level, 'enforce-version': version }) })
  return refusalOf(await runAdmission(on, 'pods', { object }, cluster)).replace(
    `pods "a" is forbidden: violates PodSecurity "${level}:${version}": `,
    '',
  )
}

describe('PodSecurity: baseline', () => {
  it.each<[string, object, string]>([
    ['plain', pod({}), ''],
    [
      'host namespaces',
      pod({ hostIPC: true, hostNetwork: true, hostPID: true }),
      'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
    ],
    [
      'privileged',
      pod({ containers: [container({ privileged: true })] }),
      'privileged (container "c" must not set securityContext.privileged=true)',
    ],
    [
      'capabilities',
      pod({ containers: [container({ capabilities: { add: ['NET_RAW', 'CHOWN', 'BPF'] } })] }),
      'non-default capabilities (container "c" must not include "BPF", "NET_RAW" in securityContext.capabilities.add)',
    ],
    [
      'host paths',
      pod({
        volumes: [
          { name: 'v', hostPath: { path: '/' } },
          { name: 'w', hostPath: {} },
        ],
      }),
      'hostPath volumes (volumes "v", "w")',
    ],
    [
      'host ports',
      pod({
        containers: [container({}, { ports: [{ hostPort: 80 }, { hostPort: 0 }] })],
        initContainers: [container({}, { name: 'i', ports: [{ hostPort: 8080 }] })],
      }),
      'hostPort (containers "i", "c" use hostPorts 80, 8080)',
    ],
    [
      'proc mounts',
      pod({ containers: [container({ procMount: 'Unmasked' })] }),
      'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
    ],
    [
      'host processes',
      pod({
        securityContext: { windowsOptions: { hostProcess: true } },
        containers: [container({ windowsOptions: { hostProcess: true } })],
      }),
      'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
    ],
    [
      'SELinux',
      pod({
        securityContext: { seLinuxOptions: { type: 'spc_t', role: 'r' } },
        containers: [container({ seLinuxOptions: { user: 'u' } })],
      }),
      'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
    ],
    [
      'AppArmor',
      pod(
        { securityContext: { appArmorProfile: { type: 'Unconfined' } } },
        { annotations: { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' } },
      ),
      'forbidden AppArmor profiles (pod and annotation must not set AppArmor profile type to "Unconfined", "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
    ],
    [
      'AppArmor of a container',
      pod({ containers: [container({ appArmorProfile: { type: 'Unconfined' } })] }),
      'forbidden AppArmor profile (container "c" must not set AppArmor profile type to "Unconfined")',
    ],
    [
      'seccomp',
      pod({
        securityContext: { seccompProfile: { type: 'Unconfined' } },
        containers: [container({ seccompProfile: { type: 'Unconfined' } })],
      }),
      'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    [
      'sysctls',
      pod({ securityContext: { sysctls: [{ name: 'kernel.msgmax' }, { name: 'net.ipv4.tcp_syncookies' }] } }),
      'forbidden sysctls (kernel.msgmax)',
    ],
    [
      'ephemeral containers',
      pod({ ephemeralContainers: [container({ privileged: true }, { name: 'e' })] }),
      'privileged (container "e" must not set securityContext.privileged=true)',
    ],
    [
      'several',
      pod({ hostPID: true, volumes: [{ name: 'v', hostPath: {} }] }),
      'host namespaces (hostPID=true), hostPath volumes (volume "v")',
    ],
  ])('%s [P286]', async (_, object, sentence) => {
    expect(await against('baseline', 'latest', object)).toBe(sentence)
    expect(await against('privileged', 'latest', object)).toBe('')
  })

  it.each<[string, string, object, string]>([
    [
      'seccomp annotations',
      'v1.18',
      pod(
        {},
        {
          annotations: {
            'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
            'container.seccomp.security.alpha.kubernetes.io/c': 'localhost/x',
          },
        },
      ),
      'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    ],
    [
      'no seccomp annotations',
      'v1.19',
      pod({}, { annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } }),
      '',
    ],
    ['no seccomp fields', 'v1.18', pod({ securityContext: { seccompProfile: { type: 'Unconfined' } } }), ''],
    [
      'reserved ports refused',
      'v1.26',
      pod({ securityContext: { sysctls: [{ name: 'net.ipv4.ip_local_reserved_ports' }] } }),
      'forbidden sysctls (net.ipv4.ip_local_reserved_ports)',
    ],
    [
      'reserved ports allowed',
      'v1.27',
      pod({ securityContext: { sysctls: [{ name: 'net.ipv4.ip_local_reserved_ports' }] } }),
      '',
    ],
    ['keep-alive sysctls allowed', 'v1.29', pod({ securityContext: { sysctls: [{ name: 'net.ipv4.tcp_keepalive_time' }] } }), ''],
    ['buffer sysctls allowed', 'v1.32', pod({ securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem' }] } }), ''],
    ['container engine types allowed', 'v1.31', pod({ securityContext: { seLinuxOptions: { type: 'container_engine_t' } } }), ''],
    [
      'container engine types refused',
      'v1.30',
      pod({ securityContext: { seLinuxOptions: { type: 'container_engine_t' } } }),
      'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
    ],
    ['future versions', 'v1.99', pod({ hostPID: true }), 'host namespaces (hostPID=true)'],
  ])('%s: %s [P286]', async (_, version, object, sentence) => {
    expect(await against('baseline', version, object)).toBe(sentence)
  })
})

describe('PodSecurity: restricted', () => {
  const tight = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  }
  const restricted = (securityContext: object, rest: object = {}) =>
    pod({ containers: [container({ ...tight, ...securityContext })], ...rest })

  it.each<[string, object, string]>([
    ['a restricted pod', restricted({}), ''],
    [
      'all violations',
      pod({}),
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
    ],
    [
      'capabilities',
      restricted({ capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'], drop: ['KILL'] } }),
      'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "CHOWN" in securityContext.capabilities.add)',
    ],
    [
      'volumes',
      restricted(
        {},
        {
          volumes: [
            { name: 'v', nfs: {} },
            { name: 'w', emptyDir: {} },
            { name: 'x', hostPath: {} },
          ],
        },
      ),
      'restricted volume types (volumes "v", "x" use restricted volume types "hostPath", "nfs")',
    ],
    [
      'root set by the pod',
      restricted({}, { securityContext: { runAsNonRoot: false, runAsUser: 0 } }),
      'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false), runAsUser=0 (pod must not set runAsUser=0)',
    ],
    [
      'root set by a container',
      restricted({ runAsNonRoot: false, runAsUser: 0 }),
      'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false), runAsUser=0 (container "c" must not set runAsUser=0)',
    ],
    [
      'settings of the pod apply to its containers',
      pod({
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost' } },
        containers: [container({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })],
      }),
      '',
    ],
    [
      'seccomp',
      restricted({ seccompProfile: { type: 'Unconfined' } }),
      'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
    ],
    ['Windows pods', pod({ os: { name: 'windows' }, securityContext: { runAsNonRoot: true } }), ''],
  ])('%s [P286]', async (_, object, sentence) => {
    expect(await against('restricted', 'latest', object)).toBe(sentence)
  })

  it.each<[string, object, string]>([
    ['v1.7', pod({ securityContext: { runAsNonRoot: true } }), ''],
    [
      'v1.8',
      pod({ securityContext: { runAsNonRoot: true } }),
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
    ],
    ['v1.21', restricted({ capabilities: {} }), ''],
    ['v1.22', restricted({ runAsUser: 0 }), ''],
    [
      'v1.24',
      pod({ os: { name: 'windows' }, containers: [container({ ...tight, allowPrivilegeEscalation: true })] }),
      'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
    ],
  ])('checks of %s are weaker [P286]', async (version, object, sentence) => {
    expect(await against('restricted', version, object)).toBe(sentence)
  })

  it('relaxes checks for user namespaces when the gate is on [P286]', async () => {
    const relaxed = podSecurity({ profile: stockProfile, relaxForUserNamespaces: true })
    const object = restricted({ runAsNonRoot: false, runAsUser: 0, procMount: 'Unmasked' }, { hostUsers: false })
    expect(await against('restricted', 'latest', object, relaxed)).toBe('')
    expect(await against('restricted', 'latest', object)).not.toBe('')
  })
})

describe('PodSecurity: versions after 1.33', () => {
  const at = (release: string, gates: Record<string, boolean> = {}) =>
    podSecurity({ profile: stockProfile, features: createFeatures(release, gates) })
  const gate = { ProbeHostPodSecurityStandards: true }
  const probed = pod({
    containers: [
      container(
        {},
        {
          livenessProbe: { httpGet: { host: 'b.example', port: 80 } },
          lifecycle: { preStop: { tcpSocket: { host: 'a.example' } } },
        },
      ),
      container({}, { name: 'd', readinessProbe: { tcpSocket: { host: 'a.example' } } }),
      container({}, { name: 'e', startupProbe: { httpGet: { port: 80 } } }),
    ],
  })
  const hosts = 'probe or lifecycle host (containers "c", "d" use probe or lifecycle hosts "a.example", "b.example")'

  it('refuse hosts of probes from 1.34 on', async () => {
    expect(await against('baseline', 'latest', probed, at('1.33', gate))).toBe('')
    expect(await against('baseline', 'latest', probed, at('1.34', gate))).toBe(hosts)
    expect(await against('baseline', 'latest', probed, at('1.34', { ProbeHostPodSecurityStandards: false }))).toBe('')
    expect(await against('baseline', 'v1.33', probed, at('1.34', gate))).toBe('')
    expect(await against('restricted', 'v1.34', probed, at('1.34', gate))).toContain(hosts)
  })

  it('relax checks for pods in user namespaces from 1.35 on', async () => {
    const root = pod({ hostUsers: false, containers: [container({ procMount: 'Unmasked', runAsUser: 0 })] })
    const proc = 'procMount (container "c" must not set securityContext.procMount to "Unmasked")'
    expect(await against('baseline', 'latest', root, at('1.34'))).toBe(proc)
    expect(await against('baseline', 'latest', root, at('1.35'))).toBe('')
    expect(await against('baseline', 'v1.34', root, at('1.35'))).toBe(proc)
    const [before, after] = [
      await against('restricted', 'latest', root, at('1.34')),
      await against('restricted', 'latest', root, at('1.35')),
    ]
    expect([before, after].map((text) => text.includes(proc))).toEqual([true, true])
    expect([before, after].map((text) => text.includes('runAsUser=0'))).toEqual([true, false])
    expect([before, after].map((text) => text.includes('runAsNonRoot != true'))).toEqual([true, false])
  })
})
