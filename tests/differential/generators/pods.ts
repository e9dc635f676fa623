import type { JsonValue } from '@krmkit/meta'
import type { Dice } 

type Draft = Record<string, JsonValue>

/** A valid pod spec; `topic`: what of it varies. */
export function randomPod(dice: Dice, topic: 'plain' | 'resources' | 'security'): Draft {
  const names = dice.chance(25) ? ['main', 'side'] : ['main']
  const container = (name: string): Draft => ({ name, image: 'app:1', ...parts(dice, topic) })
  const spec: Draft = { containers: names.map(container) }
  if (dice.chance(15))
    spec['initContainers'] = [{ ...container('init'), ...(dice.chance(30) ? { restartPolicy: 'Always' } : {}) }]
  if (topic === 'resources' && dice.chance(15)) spec['activeDeadlineSeconds'] = 10
  if (topic === 'security') Object.assign(spec, podSecurity(dice))
  return spec
}

function parts(dice: Dice, topic: string): Draft {
  if (topic === 'resources') return dice.chance(75) ? { resources: resources(dice) } : {}
  if (topic === 'plain') return {}
  const result: Draft = {}
  if (dice.chance(80)) result['securityContext'] = containerSecurity(dice)
  if (dice.chance(15)) result['ports'] = [{ containerPort: 80, ...(dice.chance(60) ? { hostPort: 80 } : {}) }]
  if (dice.chance(10)) result['livenessProbe'] = { httpGet: { port: 80, ...(dice.chance(50) ? { host: '1.2.3.4' } : {}) } }
  return result
}

function resources(dice: Dice): Draft {
  const requests: Draft = {}
  const limits: Draft = {}
  for (const [key, values] of Object.entries({ cpu: ['100m', '500m', '1'], memory: ['10Mi', '100Mi', '1Gi'] })) {
    const at = dice.below(3)
    if (dice.chance(60)) requests[key] = values[at] ?? ''
    if (dice.chance(50)) limits[key] = values[Math.min(2, at + dice.below(2))] ?? ''
  }
  if (dice.chance(15)) requests['ephemeral-storage'] = '1Gi'
  if (dice.chance(10)) Object.assign(limits, { 'example.com/gpu': '1' })
  return { requests, limits }
}

/** Mostly what the restricted level asks for, with some deviations. */
function containerSecurity(dice: Dice): Draft {
  const context: Draft = {}
  if (dice.chance(80)) context['allowPrivilegeEscalation'] = false
  if (dice.chance(70)) context['runAsNonRoot'] = dice.chance(90)
  if (dice.chance(70))
    context['capabilities'] = dice.pick<JsonValue>([
      { drop: ['ALL'] },
      { drop: ['ALL'] },
      { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
      { add: ['SYS_ADMIN', 'NET_RAW'] },
      { add: ['CHOWN'] },
      {},
    ])
  if (dice.chance(60))
    context['seccompProfile'] = dice.pick<JsonValue>([
      { type: 'RuntimeDefault' },
      { type: 'RuntimeDefault' },
      { type: 'Unconfined' },
      { type: 'Localhost', localhostProfile: 'a' },
    ])
  if (dice.chance(8)) Object.assign(context, { privileged: true, allowPrivilegeEscalation: true })
  if (dice.chance(15)) context['runAsUser'] = dice.pick([0, 1000])
  if (dice.chance(10)) context['procMount'] = dice.pick(['Default', 'Default', 'Unmasked'])
  if (dice.chance(12))
    context['seLinuxOptions'] = dice.pick<JsonValue>([
      { type: 'container_t' },
      { type: 'x_t' },
      { user: 'u' },
      { role: 'r', level: 's0' },
      { type: 'container_engine_t' },
    ])
  if (dice.chance(12))
    context['appArmorProfile'] = dice.pick<JsonValue>([
      { type: 'RuntimeDefault' },
      { type: 'Unconfined' },
      { type: 'Localhost', localhostProfile: 'a' },
    ])
  if (dice.chance(8)) context['windowsOptions'] = { hostProcess: dice.chance(20) }
  return context
}

function podSecurity(dice: Dice): Draft {
  const spec: Draft = {}
  for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) if (dice.chance(8)) spec[key] = true
  if (dice.chance(12)) spec['os'] = { name: dice.pick(['linux', 'windows']) }
  if (dice.chance(30)) {
    const volume = dice.pick<JsonValue>([
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
    spec['volumes'] = [{ name: 'v', ...volume }, ...(dice.chance(30) ? [{ name: 'w', hostPath: { path: '/w' } }] : [])]
  }
  if (dice.chance(50)) {
    const context: Draft = {}
    if (dice.chance(50)) context['runAsNonRoot'] = true
    if (dice.chance(50)) context['seccompProfile'] = { type: dice.pick(['RuntimeDefault', 'Unconfined']) }
    if (dice.chance(15)) context['runAsUser'] = dice.pick([0, 1000])
    if (dice.chance(15))
      context['sysctls'] = [
        {
          name: dice.pick([
            'kernel.shm_rmid_forced',
            'net.ipv4.tcp_keepalive_time',
            'net.core.rmem_max',
            'kernel.msgmax',
            'net.ipv4.tcp_rmem',
          ]),
          value: '1',
        },
      ]
    if (dice.chance(10)) context['seLinuxOptions'] = { type: dice.pick(['container_kvm_t', 'y_t']) }
    if (dice.chance(10)) context['appArmorProfile'] = { type: dice.pick(['RuntimeDefault', 'Unconfined']) }
    spec['securityContext'] = context
  }
  return spec
}
