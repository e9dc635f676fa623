import type { ClientConfig } from './hook.ts'

/** The address of a webhook, from its `clientConfig`. */
export interface WebhookAddress {
  /** `https://host:port` */
  readonly origin: string
  /** Always with a port; the key for the lookup of credentials. */
  readonly hostAndPort: string
  readonly path: string
  readonly service?: { readonly namespace: string; readonly name: string; readonly port: number }
  /** Expected name in the certificate, when it is not the host of `origin`. */
  readonly serverName?: string
}

const httpsPort = 443

/** @returns the address, or a message when the configuration has none. */
export function addressOf({ url, service }: ClientConfig): WebhookAddress | string {
  if (service !== undefined && service !== null) {
    const { namespace = '', name = '', path, port } = service
    const serverName = `${name}.${namespace}.svc`
    const number = port ?? httpsPort
    const hostAndPort = `${serverName}:${number}`
    return {
      origin: `https://${hostAndPort}`,
      hostAndPort,
      path: cleanPath(path ?? ''),
      service: { namespace, name, port: number },
      serverName,
    }
  }
  if (url === undefined || url === null || url === '') return 'webhook configuration must have either service or URL'
  if (!URL.canParse(url)) return `Unparsable URL: ${url}`
  const { protocol, port, hostname, pathname } = new URL(url)
  if (protocol !== 'https:') return `Unparsable URL: ${url}`
  const written = writtenHost(url)
  const host = isAscii(written) ? written : hostname
  const origin = `https://${host}${port === '' ? '' : `:${port}`}`
  return { origin, hostAndPort: `${host}:${port === '' ? httpsPort : port}`, path: cleanPath(pathname) }
}

/** The host as the URL states it, in lower case: a URL parser turns `0177.0.0.1` into another address. */
function writtenHost(url: string): string {
  const authority = /^[^:]*:\/\/([^/?#]*)/.exec(url)?.[1] ?? ''
  return authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:[0-9]*$/, '')
    .toLowerCase()
}

function isAscii(text: string): boolean {
  return /^[!-~]*$/.test(text)
}

/** Cleans a path as Go's `path.Clean` does: no repeated or trailing slashes, `.` and `..` resolved. */
function cleanPath(path: string): string {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  return `/${segments.join('/')}`
}
