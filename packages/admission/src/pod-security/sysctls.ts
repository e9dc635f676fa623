import type { Check, CheckVersion } from './check.ts'

const first = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const second = [...first, 'net.ipv4.ip_local_reserved_ports']
const third = [
  ...second,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const fourth = [...third, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']

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

/** Kernel settings that concern nobody but the pod; each release knows a few more. */
export const sysctls: Check = {
  id: 'sysctls',
  level: 'baseline',
  versions: [version(0, first), version(27, second), version(29, third), version(32, fourth)],
}
