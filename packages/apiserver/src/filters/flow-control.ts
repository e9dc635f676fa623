import type { ObjectReader } from '@krmkit/admission'
import type { NamingProfile } from '@krmkit/meta'
import type { FrozenObject } from '@krmkit/registry'
import { type FlowClass, type FlowRequest, flowClasses } from '../flow-control/flow-classes.ts'
import type { Filter } from '../request-state.ts'

/** Names of headers by which clients learn how their requests are classed. */
const schemaHeader = 'x-kubernetes-pf-flowschema-uid'
const levelHeader = 'x-kubernetes-pf-prioritylevel-uid'

type Headers = Readonly<Record<string, string>>

/** What is told of requests as long as no schema and no level changes. */
interface Classing {
  readonly schemas: readonly FrozenObject[]
  readonly levels: readonly FrozenObject[]
  readonly classOf: (request: FlowRequest) => FlowClass | undefined
  readonly told: WeakMap<FrozenObject, Headers>
}

export interface FlowControlOptions {
  readonly profile: NamingProfile
  /** The store's newest revision: as long as it stays, nothing is read again. */
  readonly revision: () => number
}

/**
 * Tells every caller by which flow schema, and so in which priority level, the request is classed, whatever becomes of it. Where
 * there are no flow schemas, or no level of the name, nothing is told.
 *
 * @see Kubernetes, "API Priority and Fairness"
 */
export function flowControl(reader: Pick<ObjectReader, 'list' | 'listNow'>, options: FlowControlOptions): Filter {
  const group = `flowcontrol.apiserver.${options.profile.apiDomain}`
  const schemas = { group, resource: 'flowschemas' }
  const levels = { group, resource: 'prioritylevelconfigurations' }
  let current: Classing | undefined
  let readAt = -1
  return (state, next) => {
    const revision = options.revision()
    if (current === undefined || revision !== readAt) {
      const schemasNow = reader.listNow?.(schemas)
      const levelsNow = reader.listNow?.(levels)
      if (schemasNow === undefined || levelsNow === undefined) {
        return Promise.all([reader.list(schemas), reader.list(levels)]).then(([schemasRead, levelsRead]) => {
          state.flowHeaders = toldOf(classing(schemasRead, levelsRead), state)
          return next()
        })
      }
      // The very same lists as long as nothing has changed in them.
      if (current?.schemas !== schemasNow || current.levels !== levelsNow) current = classing(schemasNow, levelsNow)
      readAt = revision
    }
    state.flowHeaders = toldOf(current, state)
    return next()
  }
}

function classing(schemas: readonly FrozenObject[], levels: readonly FrozenObject[]): Classing {
  return { schemas, levels, classOf: flowClasses(schemas), told: new WeakMap() }
}

function toldOf({ classOf, levels, told }: Classing, request: FlowRequest): Headers | undefined {
  const found = classOf(request)
  if (found === undefined) return undefined
  let headers = told.get(found.schema)
  if (headers === undefined) {
    headers = headersOf(found, levels)
    told.set(found.schema, headers)
  }
  return headers
}

function headersOf({ schema, level }: FlowClass, levels: readonly FrozenObject[]): Headers {
  const named = levels.find(({ metadata }) => metadata.name === level)
  if (named === undefined) return {}
  return { [schemaHeader]: schema.metadata.uid ?? '', [levelHeader]: named.metadata.uid ?? '' }
}
