import { type Check, containersOf, named, plural, quoted, sorted } from './check.ts'

/** The check of 1.34 that probes and lifecycle handlers name no host (gate `ProbeHostPodSecurityStandards`). */

export const probeHostsId = 'hostProbesAndHostLifecycle'

type Handler = { readonly httpGet?: { readonly host?: string }; readonly tcpSocket?: { readonly host?: string } } | undefined

interface Handlers {
  readonly livenessProbe?: Handler
  readonly readinessProbe?: Handler
  readonly startupProbe?: Handler
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler }
}

export const probeHosts: Check = {
  id: probeHostsId,
  level: 'baseline',
  versions: [
    {
      since: 34,
      run(pod) {
        const bad: string[] = []
        const hosts: string[] = []
        for (const container of containersOf(pod)) {
          const found = hostsOf(container as Handlers & typeof container)
          if (found.length > 0) bad.push(container.name)
          hosts.push(...found)
        }
        if (bad.length === 0) return undefined
        const [names, all] = [sorted(bad), sorted(hosts)]
        const what = plural('probe or lifecycle host', all.length)
        return {
          reason: 'probe or lifecycle host',
          detail: `${named('container', names)} ${plural('uses', names.length, 'use')} ${what} ${quoted(all)}`,
        }
      },
    },
  ],
}

function hostsOf({ livenessProbe, readinessProbe, startupProbe, lifecycle }: Handlers): string[] {
  const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop]
  return handlers
    .flatMap((handler) => [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? ''])
    .filter((host) => host !== '')
}
