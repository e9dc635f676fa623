/**
 * Labels of request metrics. Every label has a closed set of values, because series live as long as the server: client input must not
 * create series.
 */

import type { ResourceDefinition } from '@krmkit/kinds'
import type { GroupVersionResource } from '@krmkit/meta'
import type { RemoteVersion } from '../discovery/remote-version.ts'
import { connectable } from '../request/connectable.ts'
import { header, type RequestContext } from '../request/context.ts'

/** Labels of `apiserver_request_total`, named as on kube-apiserver. */
export interface RequestLabels {
  readonly code: number
  /** `apiserver` for the API, empty for other paths. */
  readonly component: string
  /** `All`, `invalid` or empty. */
  readonly dry_run: string
  readonly group: string
  readonly resource: string
  readonly scope: string
  readonly subresource: string
  readonly verb: string
  readonly version: string
}

/** The resources whose names may become labels. */
export interface NamedResources {
  find(gvr: GroupVersionResource): ResourceDefinition | undefined
  /** Group versions of other servers. A change replaces the array. */
  remote(): readonly RemoteVersion[]
}

/** Computes the labels of a completed request. Requests to a resource with equal labels share one object. */
export type RequestLabeler = (context: RequestContext, code: number) => RequestLabels

type Names = Pick<RequestLabels, 'component' | 'group' | 'resource' | 'subresource' | 'version'>

const noNames: Names = { component: '', group: '', resource: '', subresource: '', version: '' }

/** Maximum length of the name of a group, version, resource or subresource. */
const maxNameLength = 253

/** Non-resource paths with a series, and their names on kube-apiserver. */
const paths: ReadonlyMap<string, Names> = new Map([
  ...['/healthz', '/livez', '/readyz'].map((path) => [path, { ...noNames, subresource: path }] as const),
  ...['api', 'apis'].map((name) => [`/${name}`, { ...noNames, component: 'apiserver', subresource: name }] as const),
  ['/openapi/v3', { ...noNames, subresource: 'openapi/v3' }],
])

const resourceVerbs: Readonly<Record<string, string>> = {
  ...{ get: 'GET', list: 'LIST', watch: 'WATCH', create: 'POST', update: 'PUT', patch: 'PATCH' },
  ...{ delete: 'DELETE', deletecollection: 'DELETE' },
}

const methods: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete', 'connect'])

/** Label of unknown verbs. */
const otherVerb = 'OTHER'

/** Label of invalid HTTP status codes, which other servers and webhooks may return. */
const otherCode = 600

export function metricCode(code: number): number {
  return Number.isInteger(code) && code >= 100 && code < otherCode ? code : otherCode
}

/**
 * Differs: kube-apiserver counts requests that reach a handler. Here, requests that are rejected earlier count as well, with the
 * names of the resource if it is served, without names otherwise.
 */
export function requestLabeler(resources: NamedResources): RequestLabeler {
  const remote = new RemoteNames()
  const served = new WeakMap<ResourceDefinition, Map<string, LabelSet>>()
  const servedSet = (info: RequestContext['info']): LabelSet | undefined => {
    const definition = resources.find(info)
    if (definition === undefined) return undefined
    let sets = served.get(definition)
    if (sets === undefined) {
      sets = new Map()
      served.set(definition, sets)
    }
    let labels = sets.get(info.subresource)
    if (labels === undefined) {
      const names = namesOf(info, definition)
      if (names === undefined) return undefined
      labels = new LabelSet(names)
      sets.set(info.subresource, labels)
    }
    return labels
  }
  return (context, code) => {
    const { info, query } = context
    const dryRun = query.size === 0 ? '' : dryRunOf(query.get('dryRun'))
    if (!info.isResource) {
      const names = paths.get(info.path) ?? noNames
      return { code: metricCode(code), ...names, dry_run: dryRun, scope: '', verb: methodOf(info.verb) }
    }
    const labels = servedSet(info) ?? new LabelSet(remote.find(info, resources.remote()) ?? noNames)
    const scope = info.name !== '' || info.verb === 'create' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster'
    return labels.of(metricCode(code), verbOf(context, labels.names.subresource), { scope, dryRun })
  }
}

/** The labels of the requests to one resource or subresource. */
class LabelSet {
  readonly names: Names
  readonly #byCode = new Map<number, RequestLabels[]>()

  constructor(names: Names) {
    this.names = names
  }

  of(code: number, verb: string, { scope, dryRun }: { readonly scope: string; readonly dryRun: string }): RequestLabels {
    let ofCode = this.#byCode.get(code)
    if (ofCode === undefined) {
      ofCode = []
      this.#byCode.set(code, ofCode)
    }
    for (const labels of ofCode) {
      if (labels.verb === verb && labels.scope === scope && labels.dry_run === dryRun) return labels
    }
    const labels = { code, ...this.names, dry_run: dryRun, scope, verb }
    ofCode.push(labels)
    return labels
  }
}

function namesOf(
  { group, version, resource, subresource }: RequestContext['info'],
  { subresources }: ResourceDefinition,
): Names | undefined {
  if (isTooLong(group, version, resource, subresource)) return undefined
  const isServed = subresource === '' || subresources.some(({ name }) => name === `${resource}/${subresource}`)
  return isServed ? { component: 'apiserver', group, version, resource, subresource } : undefined
}

function isTooLong(...names: readonly string[]): boolean {
  return names.some(({ length }) => length > maxNameLength)
}

function verbOf({ info, request }: RequestContext, subresource: string): string {
  if (subresource !== '' && connectable.has(subresource)) return 'CONNECT'
  if (info.verb !== 'patch') return (Object.hasOwn(resourceVerbs, info.verb) && resourceVerbs[info.verb]) || otherVerb
  return header(request, 'content-type')?.startsWith('application/apply-patch') === true ? 'APPLY' : 'PATCH'
}

function methodOf(method: string): string {
  if (method === 'head') return 'GET'
  return methods.has(method) ? method.toUpperCase() : otherVerb
}

function dryRunOf(values: readonly string[] | undefined): string {
  if (values === undefined || values.every((value) => value === '')) return ''
  return values.every((value) => value === 'All') ? 'All' : 'invalid'
}

/** Names of resources of other servers, from their discovery. */
class RemoteNames {
  #of: readonly RemoteVersion[] | undefined
  #names: ReadonlySet<string> = new Set()

  find({ group, version, resource, subresource }: RequestContext['info'], remote: readonly RemoteVersion[]): Names | undefined {
    if (remote.length === 0 || isTooLong(group, version, resource, subresource)) return undefined
    if (remote !== this.#of) {
      this.#of = remote
      this.#names = namesIn(remote)
    }
    const isServed = this.#names.has([group, version, resource, subresource].join('/'))
    return isServed ? { component: '', group, version, resource, subresource } : undefined
  }
}

function namesIn(remote: readonly RemoteVersion[]): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { group, version, resources = [] } of remote) {
    for (const each of resources as readonly { readonly resource?: unknown; readonly subresources?: unknown }[]) {
      const prefix = `${group}/${version}/${String(each.resource)}/`
      names.add(prefix)
      if (!Array.isArray(each.subresources)) continue
      for (const one of each.subresources as readonly { readonly subresource?: unknown }[])
        names.add(prefix + String(one.subresource))
    }
  }
  return names
}
