import type { ClientConfig } from './hook.ts'

/** Where a webhook is reached, as its configuration says. */
export interface WebhookAddress {
  /** `https://host:port`, as requests name it. */
  readonly origin: string
  /** Always with a port; what credentials are looked up by. */
  readonly hostAndPort: string
  readonly path: string
  readonly service?: { readonly namespace: string; readonly name: string; readonly port: number }
  /** Name in the certificate, when it is not the host of `origin`. */
  readonly serverName?: string
}

const httpsPort = 443

/** @returns why there is no address when there is none. */
export function addressOf({ url, service }: ClientConfig): WebhookAddress | string {
  if (service !== undefined && service !== null) {
    const { namespace = '', name = '', path, port } = service
    const serverName = `${name}.${namespace}.svc`
    const number = port ?? httpsPort
    const hostAndPort = `${serverName}:${number}`
    return {
      origin: `https://${hostAndPort}`,
      hostAndPort,
      path: cleaned(path ?? ''),
      service: { namespace, name, port: number },
      serverName,
    }
  }
  if (url === undefined || url === null || url === '') return 'webhook configuration must have either service or URL'
  if (!URL.canParse(url)) return `Unparsable URL: ${url}`
  const { protocol, host, port, hostname, pathname } = new URL(url)
  if (protocol !== 'https:') return `Unparsable URL: ${url}`
  return { origin: `https://${host}`, hostAndPort: port === '' ? `${hostname}:${httpsPort}` : host, path: cleaned(pathname) }
}

/** As the stock server asks for it: one slash between steps, none at the end, steps back taken. */
function cleaned(path: string): string {
  const steps: string[] = []
  for (const step of path.split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '' && step !== '.') steps.push(step)
  }
  return `/${steps.join('/')}`
}
