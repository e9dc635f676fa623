import type { ContainerBehavior } from './interfaces.ts'

/**
 * Returns a handler that sends the HTTP probes of a container to a real server, with their path, headers and timeout. Probes of other
 * kinds succeed.
 *
 * @param origin `http://127.0.0.1:3000`
 * @throws TypeError for a malformed origin
 * @example
 * import { httpProbe, NodeSimulation } from '@krmkit/controllers'
 * const behaviors = [{ match: { image: 'web:1' }, probe: httpProbe('http://127.0.0.1:3000') }]
 * const simulation = new NodeSimulation({ nodes: 1, behaviors })
 */
export function httpProbe(origin: string): NonNullable<ContainerBehavior['probe']> {
  const base = new URL(origin)
  if (base.protocol !== 'http:' && base.protocol !== 'https:') {
    throw new TypeError(`${JSON.stringify(origin)} is not an origin; write http://127.0.0.1:3000`)
  }
  return async ({ probe: { httpGet, timeoutSeconds = 1 } }) => {
    if (httpGet === undefined) return true
    const headers = new Headers({ accept: '*/*', 'user-agent': 'kube-probe/1.33' })
    for (const { name, value } of httpGet.httpHeaders ?? []) headers.append(name, value)
    // The path is appended as text, because a URL parser would take the path `//other.example` of a pod as another host.
    const path = httpGet.path ?? '/'
    const { status, body } = await fetch(`${base.origin}${path.startsWith('/') ? '' : '/'}${path}`, {
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
    })
    await body?.cancel()
    return status
  }
}
