import { type ApiObject, type DeepReadonly, labelSelectorFromObject, parseApiVersion } from '@krmkit/meta'
import type { AdmissionContext, ServedKind } from '../interfaces.ts'
import type { ParamKind, ParamRef } from './policy.ts'

/** The parameters that a binding names. */

/** Nothing can be decided because policy or binding are not what they must be. */
export class ConfigurationError extends Error {}

type Params = DeepReadonly<ApiObject>

/** @throws ConfigurationError when nobody serves the kind. */
export function paramResource({ apiVersion, kind }: ParamKind, { reader }: AdmissionContext): ServedKind {
  const { group, version } = parseApiVersion(apiVersion)
  const [found] = reader.resourcesOf?.({ group, version, kind }) ?? []
  if (found !== undefined) return found
  const named = group === '' ? version : `${group}/${version}`
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${named}, Kind=${kind}'`)
}

/**
 * Each is judged by itself; null: without parameters.
 *
 * @throws ConfigurationError when there are none and that is not to be.
 */
export async function collectParams(
  resource: ServedKind | undefined,
  ref: ParamRef | undefined,
  { namespace, context }: { readonly namespace: string; readonly context: AdmissionContext },
): Promise<readonly (Params | null)[]> {
  if (resource === undefined || ref === undefined) return [null]
  const { name = '', namespace: own = '', selector } = ref
  const place = own === '' ? namespace : own
  if (resource.namespaced && place === '') {
    throw new ConfigurationError('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources')
  }
  if (!resource.namespaced && own !== '') {
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`')
  }
  const found = await find(resource, { name, selector, namespace: resource.namespaced ? place : '' }, context)
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
  const chosen = selector !== undefined && selector !== null
  if (name !== '') {
    if (chosen) throw new ConfigurationError('paramRef.name and paramRef.selector are mutually exclusive')
    const one = reader.get(resource, namespace, name)
    return one === undefined ? [] : [await shown(one, resource, context)]
  }
  if (!chosen) throw new ConfigurationError('one of name or selector must be provided')
  const labels = labelSelectorFromObject(selector)
  const list = await reader.list(resource, namespace === '' ? undefined : namespace)
  const all = await Promise.all(list.map((params) => shown(params, resource, context)))
  return all.filter(({ metadata }) => labels.matches(metadata.labels ?? {}))
}

/** In the version that the policy names. */
async function shown(
  params: Params,
  { group, version, resource }: ServedKind,
  { convertor: forms }: AdmissionContext,
): Promise<Params> {
  const stored = parseApiVersion(params.apiVersion)
  if (forms === undefined || stored.version === version) return params
  return forms.show(params, { resource: { group, version, resource }, kind: { group, version, kind: params.kind } })
}
