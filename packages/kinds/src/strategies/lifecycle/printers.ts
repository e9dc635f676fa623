import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../interfaces.ts'
import { agedPrinter, column } from '../../printers/columns.ts'
import { conditionsOf } from '../shared/status-kind.ts'

interface Request {
  readonly spec?: {
    readonly target?: { readonly pod?: { readonly name?: string } | null }
    readonly requester?: string
    readonly intent?: string
  }
  readonly status?: { readonly observedGeneration?: number }
}

const unset = '<unset>'

/** Name of the target and its kind. */
export function targetCells({ spec }: Request): [target: string, type: string] {
  const pod = spec?.target?.pod
  return pod === undefined || pod === null ? [unset, unset] : [pod.name ?? '', 'Pod']
}

/** The state by the conditions; an eviction counts more than a failure. */
export function stateOf(object: DeepReadonly<ApiObject>): string {
  const conditions = conditionsOf(object).filter(({ status }) => status === 'True')
  const ended = ['TargetEvicted', 'Failed'].map((type) => conditions.find((each) => each.type === type)).find(Boolean)
  if (ended !== undefined) return `${ended.type} (${ended.reason})`
  return ((object as Request).status?.observedGeneration ?? 0) > 0 ? 'Progressing' : 'Pending'
}

export const evictionRequestPrinter: Printer = /* @__PURE__ */ agedPrinter(
  [
    column('Target', 'string', 'Object to evict.'),
    column('Target Type', 'string', 'Kind of the object to evict.'),
    column('Status', 'string', 'State of the request.'),
    column('Requester', 'string', 'Client that asks for the eviction.'),
    column('Intent', 'string', 'Whether the eviction is asked for or withdrawn.'),
  ],
  (object) => {
    const { spec } = object as Request
    return [...targetCells(object as Request), stateOf(object), spec?.requester ?? '', spec?.intent ?? '']
  },
)
