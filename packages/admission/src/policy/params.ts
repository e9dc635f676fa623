import { type ApiObject, type DeepReadonly, parseApiVersion } from '@krmkit/meta'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { AdmissionContext, ServedKind } from '../interfaces.ts'
import type { ParamKind, ParamRef } from './policy.ts'

/** The parameter objects of policy bindings. */

/** A policy or binding is misconfigured. */
export class ConfigurationError extends Error {}

type Params = DeepReadonly<ApiObject>

/** The resource of a `paramKind`. @throws ConfigurationError when the kind is not served. */
export function paramResource({ apiVersion, kind }: ParamKind, { reader }: AdmissionContext): ServedKind {
  const { group, version } = parseApiVersion(apiVersion)
  const [found] = reader.resourcesOf?.({ group, version, kind }) ?? []
  if (found !== undefined) return found
  const named = group === '' ? version : `${group}/${version}`
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${named}, Kind=${kind}'`)
}

/**
 * The parameter objects of a binding; the policy is evaluated once for each. `[null]` when the binding has no parameters.
 *
 * @throws ConfigurationError for an invalid `paramRef`, or when no object is found and `parameterNotFoundAction` is `Deny`.
 */
export async function collectParams(
  resource: ServedKind | undefined,
  ref: ParamRef | undefined,
  { namespace, context }: { readonly namespace: string; readonly context: AdmissionContext },
): Promise<readonly (Params | null)[]> {
  if (resource === undefined || ref === undefined) return [null]
  const { name = '', namespace: paramNamespace = '', selector } = ref
  const effectiveNamespace = paramNamespace === '' ? namespace : paramNamespace
  if (resource.namespaced && effectiveNamespace === '') {
    throw new ConfigurationError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
  }
  if (!resource.namespaced && paramNamespace !== '') {
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  }
  const found = await find(resource, { name, selector, namespace: resource.namespaced ? effectiveNamespace : '' }, context)
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction')
  }
  return found
}

async function find(
  resource: ServedKind,
  {
    name,
    selector,
    namespace,
  }: { readonly name: string; readonly selector: object | null | undefined; readonly namespace: string },
  context: AdmissionContext,
): Promise<readonly Params[]> {
  const { reader } = context
  const hasSelector = selector !== undefined && selector !== null
  if (name !== '') {
    if (hasSelector) throw new ConfigurationError('paramRef.name and paramRef.selector are mutually exclusive')
    const one = reader.get(resource, namespace, name)
    return one === undefined ? [] : [await convert(one, resource, context)]
  }
  if (!hasSelector) throw new ConfigurationError('one of name or selector must be provided')
  const labels = labelSelectorFromObject(selector)
  const list = await reader.list(resource, namespace === '' ? undefined : namespace)
  const all = await Promise.all(list.map((params) => convert(params, resource, context)))
  return all.filter(({ metadata }) => labels.matches(metadata.labels ?? {}))
}

/** Converts to the version of `paramKind`. */
async function convert(
  params: Params,
  { group, version, resource }: ServedKind,
  { versionConverter }: AdmissionContext,
): Promise<Params> {
  const stored = parseApiVersion(params.apiVersion)
  if (versionConverter === undefined || stored.version === version) return params
  return versionConverter.toVersion(params, {
    resource: { group, version, resource },
    kind: { group, version, kind: params.kind },
  })
}
