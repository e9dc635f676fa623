/** Where a webhook is found: by URL, or as a service of the cluster. */
import { isDns1123Subdomain, isValidPortNum } from '@krmkit/meta'
import type { Place } from './place.ts'
import { isEmpty, isSet } from './values.ts'

export interface WebhookService {
  readonly name?: string
  readonly namespace?: string
  readonly path?: string
  readonly port?: number
}

const form = '; desired format: https://host[/path]'

/** A URL with a host, a path and nothing else, reached by HTTPS. */
export function checkWebhookUrl(url: string, at: Place): void {
  const parts = splitUrl(url)
  if (typeof parts === 'string') {
    at.required(`url must be a valid URL: ${parts}${form}`)
    return
  }
  if (parts.scheme !== 'https') at.invalid(parts.scheme, `'https' is the only allowed URL scheme${form}`)
  if (parts.host === '') at.invalid(parts.host, `host must be specified${form}`)
  if (isSet(parts.user)) at.invalid(parts.user, 'user information is not permitted in the URL')
  if (!isEmpty(parts.fragment)) at.invalid(parts.fragment, 'fragments are not permitted in the URL')
  if (!isEmpty(parts.query)) at.invalid(parts.query, 'query parameters are not permitted in the URL')
}

interface UrlParts {
  readonly scheme: string
  readonly host: string
  readonly user: string | undefined
  readonly query: string
  readonly fragment: string
}

/** The parts of a URL, or what is wrong with it. */
function splitUrl(url: string): UrlParts | string {
  const quoted = `parse ${JSON.stringify(url)}: `
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(url)) return `${quoted}net/url: invalid control character in URL`
  if (/%(?![0-9A-Fa-f]{2})/.test(url)) return `${quoted}invalid URL escape ${JSON.stringify(/%.{0,2}/.exec(url)?.[0] ?? '')}`
  if (url.startsWith(':')) return `${quoted}missing protocol scheme`
  const hash = url.indexOf('#')
  const fragment = hash === -1 ? '' : url.slice(hash + 1)
  let rest = hash === -1 ? url : url.slice(0, hash)
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(rest)?.[1] ?? ''
  if (scheme !== '') rest = rest.slice(scheme.length + 1)
  const mark = rest.indexOf('?')
  const query = mark === -1 ? '' : rest.slice(mark + 1)
  if (mark !== -1) rest = rest.slice(0, mark)
  if (!rest.startsWith('//')) return { scheme: scheme.toLowerCase(), host: '', user: undefined, query, fragment }
  const slash = rest.indexOf('/', 2)
  const authority = rest.slice(2, slash === -1 ? undefined : slash)
  const split = authority.lastIndexOf('@')
  const host = authority.slice(split + 1)
  if (/[ <>"]/.test(host)) return `${quoted}invalid character ${JSON.stringify(/[ <>"]/.exec(host)?.[0] ?? '')} in host name`
  const port = /:([^:\]]*)$/.exec(host)?.[1]
  if (port !== undefined && !/^[0-9]*$/.test(port)) return `${quoted}invalid port ${JSON.stringify(`:${port}`)} after host`
  return { scheme: scheme.toLowerCase(), host, user: split === -1 ? undefined : authority.slice(0, split), query, fragment }
}

/** A service of the cluster, and the path at it. */
export function checkWebhookService({ name, namespace, path, port = 0 }: WebhookService, at: Place): void {
  if (isEmpty(name)) at.child('name').required('service name is required')
  if (isEmpty(namespace)) at.child('namespace').required('service namespace is required')
  const wrong = isValidPortNum(port)
  if (wrong.length > 0) at.child('port').invalid(port, `port is not valid: ${wrong.join(',')}`)
  if (isSet(path)) checkWebhookPath(path, at.child('path'))
}

function checkWebhookPath(path: string, at: Place): void {
  if (path === '' || path === '/') return
  if (path === '//') {
    at.invalid(path, 'segment[0] may not be empty')
    return
  }
  if (!path.startsWith('/')) at.invalid(path, "must start with a '/'")
  const steps = path.slice(1).replace(/\/$/, '').split('/')
  for (const [i, step] of steps.entries()) {
    if (step === '') at.invalid(path, `segment[${i}] may not be empty`)
    else
      at.invalidAll(
        path,
        isDns1123Subdomain(step).map((text) => `segment[${i}]: ${text}`),
      )
  }
}
