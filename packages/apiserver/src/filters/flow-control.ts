import type { ObjectReader } from '@krmkit/admission'
import type { NamingProfile } from '@krmkit/meta'
import type { FrozenObject } from '@krmkit/registry'
import { type FlowClass, type FlowRequest, flowClasses } from '../flow-control/flow-classes.ts'
import type { ApiResponse } from '../interfaces.ts'
import type { Filter, RequestState } from '../request-state.ts'

/** Names of headers by which clients learn how their requests are classed. */
const schemaHeader = 'x-kubernetes-pf-flowschema-uid'
const levelHeader = 'x-kubernetes-pf-prioritylevel-uid'

type Headers = Readonly<Record<string, string>>

/**
 * Tells every caller by which flow schema, and so in which priority level, the request is classed. Where there are no flow
 * schemas, or no level of the name, nothing is told.
 *
 * @see Kubernetes, "API Priority and Fairness"
 */
export function flowControl(
  reader: Pick<ObjectReader, 'list' | 'listNow'>,
  options: {
    readonly profile: NamingProfile
    /** Answers of requests that fail are told their class too. */
    readonly failed: (state: RequestState, error: unknown) => ApiResponse
  },
): Filter {
  const { failed, profile } = options
  const group = `flowcontrol.apiserver.${profile.apiDomain}`
  const schemas = { group, resource: 'flowschemas' }
  const levels = { group, resource: 'prioritylevelconfigurations' }
  let classed:
    | { readonly from: readonly FrozenObject[]; readonly of: (request: FlowRequest) => FlowClass | undefined }
    | undefined
  let known: { readonly from: readonly FrozenObject[]; readonly told: WeakMap<FrozenObject, Headers> } | undefined
  return async (state, next) => {
    const schemasNow = reader.listNow?.(schemas) ?? (await reader.list(schemas))
    const levelsNow = reader.listNow?.(levels) ?? (await reader.list(levels))
    // The very same lists as long as nothing has changed.
    if (classed?.from !== schemasNow) classed = { from: schemasNow, of: flowClasses(schemasNow) }
    if (known?.from !== levelsNow) known = { from: levelsNow, told: new WeakMap() }
    const found = classed.of(state)
    if (found === undefined) return next()
    let headers = known.told.get(found.schema)
    if (headers === undefined) {
      headers = headersOf(found, levelsNow)
      known.told.set(found.schema, headers)
    }
    let response: ApiResponse
    try {
      response = await next()
    } catch (error) {
      response = failed(state, error)
    }
    return { ...response, headers: { ...headers, ...response.headers } }
  }
}

function headersOf({ schema, level }: FlowClass, levels: readonly FrozenObject[]): Headers {
  const named = levels.find(({ metadata }) => metadata.name === level)
  if (named === undefined) return {}
  return { [schemaHeader]: schema.metadata.uid ?? '', [levelHeader]: named.metadata.uid ?? '' }
}
