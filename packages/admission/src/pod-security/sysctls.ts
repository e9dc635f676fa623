import type { Check, CheckVersion } from './check.ts'

const namesSince0 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const namesSince27 = [...namesSince0, 'net.ipv4.ip_local_reserved_ports']
const namesSince29 = [
  ...namesSince27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const namesSince32 = [...namesSince29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']

function version(since: number, names: readonly string[]): CheckVersion {
  const allowed = new Set(names)
  return {
    since,
    run({ spec }) {
      const bad = (spec.securityContext?.sysctls ?? []).map(({ name }) => name).filter((name) => !allowed.has(name))
      return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
    },
  }
}

/** Allows sysctls that are namespaced to the pod; releases have added to the list. */
export const sysctls: Check = {
  id: 'sysctls',
  level: 'baseline',
  versions: [version(0, namesSince0), version(27, namesSince27), version(29, namesSince29), version(32, namesSince32)],
}
