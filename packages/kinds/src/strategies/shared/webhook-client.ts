/** Client configuration of webhooks: a URL, or a service of the cluster. */
import { validateDns1123Subdomain, validatePortNum } from '@krmkit/meta/names'
import type { FieldPath } from './field-path.ts'
import { parseGoUrl } from './go-url.ts'
import { isEmpty, isSet } from './values.ts'

export interface WebhookService {
  readonly name?: string
  readonly namespace?: string
  readonly path?: string
  readonly port?: number
}

const form = '; desired format: https://host[/path]'

/** An https URL with a host, without user, query or fragment. */
export function validateWebhookUrl(url: string, at: FieldPath): void {
  const parts = parseGoUrl(url)
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

/** A service of the cluster, with an optional path. */
export function validateWebhookService({ name, namespace, path, port = 0 }: WebhookService, at: FieldPath): void {
  // kube-apiserver mistakes one for the other.
  if (isEmpty(namespace)) at.child('name').required('service name is required')
  if (isEmpty(name)) at.child('namespace').required('service namespace is required')
  const wrong = validatePortNum(port)
  if (wrong.length > 0) at.child('port').invalid(port, `port is not valid: ${wrong.join(',')}`)
  if (isSet(path)) validateWebhookPath(path, at.child('path'))
}

function validateWebhookPath(path: string, at: FieldPath): void {
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
        validateDns1123Subdomain(step).map((text) => `segment[${i}]: ${text}`),
      )
  }
}
