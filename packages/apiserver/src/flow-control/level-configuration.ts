import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '@krmkit/kinds/strategies'
import type { DeepReadonly } from '@krmkit/meta'
import type { FrozenObject } from '@krmkit/registry'
import { noQueues, type Queuing } from './fair-queues.ts'

/** The effective fields of a PriorityLevelConfiguration. */
export interface LevelConfiguration {
  readonly name: string
  /** Empty for a mandatory level without a stored object. */
  readonly uid: string
  readonly exempt: boolean
  readonly shares: number
  readonly lendablePercent: number
  /** Undefined: unlimited. */
  readonly borrowingLimitPercent: number | undefined
  readonly queuing: Queuing
}

interface Spec {
  readonly type?: string
  readonly exempt?: Shares | null
  readonly limited?: (Shares & { readonly borrowingLimitPercent?: number | null; readonly limitResponse?: Response }) | null
}

interface Shares {
  readonly nominalConcurrencyShares?: number | null
  readonly lendablePercent?: number | null
}

interface Response {
  readonly type?: string
  readonly queuing?: Partial<Queuing> | null
}

const defaultShares = 30
const exemptLevel = 'exempt'

/** @returns undefined for an invalid object, which counts as absent. */
export function levelConfiguration(object: FrozenObject): LevelConfiguration | undefined {
  const { name = '', uid = '' } = object.metadata
  const { type, exempt, limited } = (object as { readonly spec?: DeepReadonly<Spec> }).spec ?? {}
  if ((type === 'Exempt') !== (name === exemptLevel)) return undefined
  if (type === 'Exempt') {
    if (limited !== undefined && limited !== null) return undefined
    return { name, uid, exempt: true, ...sharesOf(exempt ?? {}, 0), borrowingLimitPercent: undefined, queuing: noQueues }
  }
  if (type !== 'Limited' || limited === undefined || limited === null) return undefined
  const queuing = queuingOf(limited.limitResponse)
  if (queuing === undefined) return undefined
  const borrowingLimitPercent = limited.borrowingLimitPercent ?? undefined
  return { name, uid, exempt: false, ...sharesOf(limited, defaultShares), borrowingLimitPercent, queuing }
}

function sharesOf(spec: DeepReadonly<Shares>, defaultValue: number): Pick<LevelConfiguration, 'shares' | 'lendablePercent'> {
  return { shares: spec.nominalConcurrencyShares ?? defaultValue, lendablePercent: spec.lendablePercent ?? 0 }
}

function queuingOf(response: DeepReadonly<Response> | undefined): Queuing | undefined {
  const queuing = response?.queuing ?? undefined
  if (response?.type === 'Reject') return queuing === undefined ? noQueues : undefined
  if (response?.type !== 'Queue' || queuing === undefined) return undefined
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing
  return queues > 0 && handSize > 0 && handSize <= queues ? { queues, handSize, queueLengthLimit } : undefined
}

/** The configurations of the objects, completed by missing mandatory levels. */
export function levelConfigurations(objects: readonly FrozenObject[]): readonly LevelConfiguration[] {
  const configured = objects.map(levelConfiguration).filter((each) => each !== undefined)
  const missing = [...mandatoryPriorityLevels].filter(([name]) => !configured.some((each) => each.name === name))
  const added = missing.map(([name, spec]) => levelConfiguration(mandatoryObject(name, spec)))
  return [...configured, ...added.filter((each) => each !== undefined)]
}

/** The usable flow schemas, completed by missing mandatory ones. */
export function withMandatorySchemas(
  objects: readonly FrozenObject[],
  isUsable: (schema: FrozenObject) => boolean,
): readonly FrozenObject[] {
  const usable = objects.filter(isUsable)
  const missing = [...mandatoryFlowSchemas].filter(([name]) => !usable.some(({ metadata }) => metadata.name === name))
  return [...usable, ...missing.map(([name, spec]) => mandatoryObject(name, spec))]
}

/** An object that stands for a missing stored one. */
function mandatoryObject(name: string, spec: object): FrozenObject {
  return { apiVersion: '', kind: '', metadata: { name }, spec }
}
