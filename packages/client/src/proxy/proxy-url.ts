import { ClientError } from '../client-error.ts'

/** A proxy between the client and the server. */
export interface ProxyAddress {
  /**
   * `http` and `https`: tunnels of the method CONNECT for HTTPS servers, forwarded requests for HTTP servers. `socks5`: connections of
   * SOCKS version 5; the proxy resolves names.
   */
  readonly protocol: 'http' | 'https' | 'socks5'
  readonly host: string
  readonly port: number
  readonly credentials: { readonly username: string; readonly password: string } | undefined
}

const defaultPorts = { http: 80, https: 443, socks5: 1080 } as const

/**
 * Parses the URL of a proxy: `http://user:password@host:8080`.
 *
 * @throws ClientError `Unsupported` for other protocols, `InvalidRequest` for text that is not a URL; the message contains
 *   no credentials
 */
export function parseProxyUrl(text: string): ProxyAddress {
  if (!URL.canParse(text)) throw invalid('the proxy URL cannot be parsed')
  const url = new URL(text)
  const protocol = url.protocol.slice(0, -1)
  if (protocol !== 'http' && protocol !== 'https' && protocol !== 'socks5') {
    const message = `unsupported proxy protocol ${JSON.stringify(protocol)}: it must be http, https or socks5`
    throw new ClientError({ code: 'Unsupported', message })
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (host === '') throw invalid('the proxy URL has no host')
  const [username, password] = [url.username, url.password].map(decoded) as [string, string]
  return {
    protocol,
    host,
    port: url.port === '' ? defaultPorts[protocol] : Number(url.port),
    credentials: username === '' && password === '' ? undefined : { username, password },
  }
}

/** `https://host:8080`, without credentials. */
export function formatProxy({ protocol, host, port }: ProxyAddress): string {
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw invalid('the credentials of the proxy URL are not percent-encoded')
  }
}

function invalid(message: string): ClientError {
  return new ClientError({ code: 'InvalidRequest', message })
}
