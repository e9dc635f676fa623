import type { Answer, Doc, SendOptions, TestApi } from './server.ts'

/** Applies, and queries of field ownership. */

export const services = '/api/v1/namespaces/default/services'
export const pods = '/api/v1/namespaces/default/pods'
export const deployments = '/apis/apps/v1/namespaces/default/deployments'

/** The path determines version, kind and name. */
export function applyTo(
  api: TestApi,
  path: string,
  manager: string,
  rest: object,
  options: SendOptions & { force?: boolean } = {},
): Promise<Answer> {
  const kinds: Readonly<Record<string, [string, string]>> = {
    configmaps: ['v1', 'ConfigMap'],
    services: ['v1', 'Service'],
    pods: ['v1', 'Pod'],
    deployments: ['apps/v1', 'Deployment'],
    widgets: ['example.com/v1', 'Widget'],
  }
  const [, resource = '', name = ''] = /\/default\/([a-z]+)\/([a-z0-9-]+)/.exec(path) ?? []
  const [apiVersion, kind] = kinds[resource] ?? ['', '']
  const { metadata = {}, ...others } = rest as { metadata?: object }
  return api.send('PATCH', path, {
    body: { apiVersion, kind, metadata: { name, ...metadata }, ...others },
    headers: { 'content-type': 'application/apply-patch+yaml' },
    ...options,
    query: { fieldManager: manager, ...(options.force === true ? { force: 'true' } : {}), ...(options.query as object) },
  })
}

export interface Owner {
  readonly manager: string
  readonly operation: string
  readonly subresource?: string
  readonly time?: string
  readonly fieldsV1: object
}

export function owners({ metadata }: Doc): Record<string, object> {
  return Object.fromEntries(
    ((metadata.managedFields ?? []) as unknown as Owner[]).map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, ...(subresource === undefined ? [] : [subresource])].join(' '),
      fieldsV1,
    ]),
  )
}

export const data = (...keys: string[]): object => ({ 'f:data': Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) })
export const conflicts = ({ json }: Answer): string[] => json.details.causes.map(({ field, message }) => `${field} ${message}`)

export function deploymentSpec(name: string, more: object = {}): object {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  return { spec: { selector: { matchLabels: labels }, template, ...more } }
}
