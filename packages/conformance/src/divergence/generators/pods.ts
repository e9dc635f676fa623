import type { RandomChoices } from '@krmkit/base/random-choices'
import type { JsonValue } from '@krmkit/meta'

type Draft = Record<string, JsonValue>

/** A valid pod spec; `topic`: what of it varies. */
export function randomPod(random: RandomChoices, topic: 'plain' | 'resources' | 'security'): Draft {
  const names = random.chance(25) ? ['main', 'side'] : ['main']
  const container = (name: string): Draft => ({ name, image: 'app:1', ...parts(random, topic) })
  const spec: Draft = { containers: names.map(container) }
  if (random.chance(15))
    spec['initContainers'] = [{ ...container('init'), ...(random.chance(30) ? { restartPolicy: 'Always' } : {}) }]
  if (topic === 'resources' && random.chance(15)) spec['activeDeadlineSeconds'] = 10
  if (topic === 'security') Object.assign(spec, podSecurity(random))
  return spec
}

function parts(random: RandomChoices, topic: string): Draft {
  if (topic === 'resources') return random.chance(75) ? { resources: resources(random) } : {}
  if (topic === 'plain') return {}
  const result: Draft = {}
  if (random.chance(80)) result['securityContext'] = containerSecurity(random)
  if (random.chance(15)) result['ports'] = [{ containerPort: 80, ...(random.chance(60) ? { hostPort: 80 } : {}) }]
  if (random.chance(10)) result['livenessProbe'] = { httpGet: { port: 80, ...(random.chance(50) ? { host: '1.2.3.4' } : {}) } }
  return result
}

function resources(random: RandomChoices): Draft {
  const requests: Draft = {}
  const limits: Draft = {}
  for (const [key, values] of Object.entries({ cpu: ['100m', '500m', '1'], memory: ['10Mi', '100Mi', '1Gi'] })) {
    const at = random.below(3)
    if (random.chance(60)) requests[key] = values[at] ?? ''
    if (random.chance(50)) limits[key] = values[Math.min(2, at + random.below(2))] ?? ''
  }
  if (random.chance(15)) requests['ephemeral-storage'] = '1Gi'
  if (random.chance(10)) Object.assign(limits, { 'example.com/gpu': '1' })
  return { requests, limits }
}

/** Mostly what the restricted level asks for, with some deviations. */
function containerSecurity(random: RandomChoices): Draft {
  const context: Draft = {}
  if (random.chance(80)) context['allowPrivilegeEscalation'] = false
  if (random.chance(70)) context['runAsNonRoot'] = random.chance(90)
  if (random.chance(70))
    context['capabilities'] = random.pick<JsonValue>([
      { drop: ['ALL'] },
      { drop: ['ALL'] },
      { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
      { add: ['SYS_ADMIN', 'NET_RAW'] },
      { add: ['CHOWN'] },
      {},
    ])
  if (random.chance(60))
    context['seccompProfile'] = random.pick<JsonValue>([
      { type: 'RuntimeDefault' },
      { type: 'RuntimeDefault' },
      { type: 'Unconfined' },
      { type: 'Localhost', localhostProfile: 'a' },
    ])
  if (random.chance(8)) Object.assign(context, { privileged: true, allowPrivilegeEscalation: true })
  if (random.chance(15)) context['runAsUser'] = random.pick([0, 1000])
  if (random.chance(10)) context['procMount'] = random.pick(['Default', 'Default', 'Unmasked'])
  if (random.chance(12))
    context['seLinuxOptions'] = random.pick<JsonValue>([
      { type: 'container_t' },
      { type: 'x_t' },
      { user: 'u' },
      { role: 'r', level: 's0' },
      { type: 'container_engine_t' },
    ])
  if (random.chance(12))
    context['appArmorProfile'] = random.pick<JsonValue>([
      { type: 'RuntimeDefault' },
      { type: 'Unconfined' },
      { type: 'Localhost', localhostProfile: 'a' },
    ])
  if (random.chance(8)) context['windowsOptions'] = { hostProcess: random.chance(20) }
  return context
}

function podSecurity(random: RandomChoices): Draft {
  const spec: Draft = {}
  for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) if (random.chance(8)) spec[key] = true
  if (random.chance(12)) spec['os'] = { name: random.pick(['linux', 'windows']) }
  if (random.chance(30)) {
    const volume = random.pick<JsonValue>([
      { emptyDir: {} },
      { hostPath: { path: '/' } },
      { configMap: { name: 'c' } },
      { nfs: { server: 's', path: '/' } },
      { secret: { secretName: 's' } },
      { persistentVolumeClaim: { claimName: 'c' } },
      { csi: { driver: 'd.example.com' } },
      { iscsi: { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:x', lun: 0 } },
      { image: { reference: 'a:1' } },
      { fc: { wwids: ['a'] } },
    ]) as Draft // prettier-ignore
    spec['volumes'] = [{ name: 'v', ...volume }, ...(random.chance(30) ? [{ name: 'w', hostPath: { path: '/w' } }] : [])]
  }
  if (random.chance(50)) {
    const context: Draft = {}
    if (random.chance(50)) context['runAsNonRoot'] = true
    if (random.chance(50)) context['seccompProfile'] = { type: random.pick(['RuntimeDefault', 'Unconfined']) }
    if (random.chance(15)) context['runAsUser'] = random.pick([0, 1000])
    if (random.chance(15))
      context['sysctls'] = [
        {
          name: random.pick([
            'kernel.shm_rmid_forced',
            'net.ipv4.tcp_keepalive_time',
            'net.core.rmem_max',
            'kernel.msgmax',
            'net.ipv4.tcp_rmem',
          ]),
          value: '1',
        },
      ]
    if (random.chance(10)) context['seLinuxOptions'] = { type: random.pick(['container_kvm_t', 'y_t']) }
    if (random.chance(10)) context['appArmorProfile'] = { type: random.pick(['RuntimeDefault', 'Unconfined']) }
    spec['securityContext'] = context
  }
  return spec
}
