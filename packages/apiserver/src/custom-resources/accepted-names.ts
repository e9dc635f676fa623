import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from '@krmkit/kinds/apiextensions/v1'
import { approvalOf, hasInvalidCaBundle, isProtectedGroup, setDefinitionCondition } from '@krmkit/kinds/custom-resources'
import type { DeepReadonly } from '@krmkit/meta'
import { aggregateMessages } from '@krmkit/meta/go-text'

/**
 * Accepts the names of definitions and derives their conditions.
 *
 *     requested --names free--> NamesAccepted --CA bundle of the conversion webhook valid--> Established (permanent)
 *     requested --name in use--> conflict --other definition deleted--> NamesAccepted
 */

type Definition = DeepReadonly<CustomResourceDefinition>
type Names = CustomResourceDefinitionNames
type Condition = CustomResourceDefinitionCondition

/** Computes the status of a definition from the other definitions of its group. Returns the same object when nothing changes. */
export function reconcileStatus(
  definition: Definition,
  others: readonly Definition[],
  now: string,
): DeepReadonly<CustomResourceDefinitionStatus> {
  const status = definition.status ?? {}
  const before = (status.conditions ?? []) as Condition[]
  let { acceptedNames } = status
  let conditions = before
  const set = (next: NewCondition): void => {
    conditions = setDefinitionCondition(conditions, { ...next, lastTransitionTime: now })
  }
  const acceptance = sameNames(definition.spec.names, acceptedNames) ? undefined : acceptNames(definition, others)
  if (acceptance !== undefined) {
    const { accepted, condition } = acceptance
    if (!isGiven(condition, conditions) || JSON.stringify(accepted) !== JSON.stringify(acceptedNames)) {
      acceptedNames = accepted
      set(condition)
      // An existing condition is kept; only a missing time is set.
      set(conditions.find(({ type }) => type === 'Established') ?? notAccepted)
    }
  }
  if (isTrue(conditions, 'NamesAccepted') && !isTrue(conditions, 'Established')) {
    const established = establishedCondition(definition)
    if (!isGiven(established, conditions)) set(established)
  }
  if (isProtectedGroup(definition.spec.group)) {
    const approval = approvalCondition(definition)
    if (!isGiven(approval, conditions)) set(approval)
  }
  if (conditions === before && acceptedNames === status.acceptedNames) return status
  return { ...status, acceptedNames, conditions } as DeepReadonly<CustomResourceDefinitionStatus>
}

type NewCondition = Omit<Condition, 'lastTransitionTime'>

function isGiven({ type, status, reason, message }: NewCondition, conditions: readonly Condition[]): boolean {
  const found = conditions.find((each) => each.type === type)
  return found?.status === status && found.reason === reason && found.message === message
}

function sameNames(a: DeepReadonly<Names>, b: DeepReadonly<Names> | undefined): boolean {
  return b !== undefined && JSON.stringify(ordered(a as Names)) === JSON.stringify(ordered(b as Names))
}

const notAccepted: NewCondition = {
  type: 'Established',
  status: 'False',
  reason: 'NotAccepted',
  message: 'not all names are accepted',
}

function establishedCondition(definition: Definition): NewCondition {
  const type = 'Established'
  if (hasInvalidCaBundle(definition)) {
    return { type, status: 'False', reason: 'InvalidCABundle', message: 'The conversion webhook CABundle is invalid' }
  }
  return { type, status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
}

export function isTrue(conditions: readonly DeepReadonly<Condition>[] | null | undefined, type: string): boolean {
  return (conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')
}

interface Acceptance {
  readonly accepted: Names
  readonly condition: NewCondition
}

/**
 * Decides which names of a definition are accepted. As on kube-apiserver, a name also counts as in use when the definition itself uses it
 * for another purpose, for example as plural and short name.
 */
function acceptNames({ spec, status }: Definition, others: readonly Definition[]): Acceptance {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const names of [status?.acceptedNames, ...others.map((other) => other.status?.acceptedNames)]) {
    for (const name of [names?.plural, names?.singular, ...(names?.shortNames ?? [])])
      if (name !== undefined && name !== '') resources.add(name)
    for (const name of [names?.kind, names?.listKind]) if (name !== undefined && name !== '') kinds.add(name)
  }
  const requested = spec.names
  const before = status?.acceptedNames
  const accepted: { -readonly [K in keyof Names]: Names[K] } = { plural: '', kind: '', ...(before as Names | undefined) }
  let conflict: { reason: string; message: string } | undefined
  const take = (name: 'plural' | 'singular' | 'kind' | 'listKind', used: ReadonlySet<string>, reason: string): void => {
    const wanted = requested[name] ?? ''
    if (wanted !== (before?.[name] ?? '') && used.has(wanted))
      conflict = { reason, message: `${JSON.stringify(wanted)} is already in use` }
    else accepted[name] = wanted
  }
  take('plural', resources, 'PluralConflict')
  take('singular', resources, 'SingularConflict')
  const current = new Set(before?.shortNames ?? [])
  const taken = (requested.shortNames ?? []).filter((name) => !current.has(name) && resources.has(name))
  if (taken.length > 0) {
    const texts = taken.map((name) => `${JSON.stringify(name)} is already in use`)
    conflict = { reason: 'ShortNamesConflict', message: aggregateMessages(texts) }
  } else if (requested.shortNames === undefined) delete accepted.shortNames
  else accepted.shortNames = [...requested.shortNames]
  take('kind', kinds, 'KindConflict')
  take('listKind', kinds, 'ListKindConflict')
  if (requested.categories === undefined) delete accepted.categories
  else accepted.categories = [...requested.categories]
  const condition =
    conflict === undefined
      ? { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { status: 'False', ...conflict }
  return { accepted: ordered(accepted), condition: { type: 'NamesAccepted', ...condition } }
}

/** Members in the order of the type, without empty lists. */
function ordered({ plural, singular, shortNames = [], kind, listKind, categories = [] }: Names): Names {
  return {
    plural,
    ...(singular === undefined || singular === '' ? {} : { singular }),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    kind,
    ...(listKind === undefined || listKind === '' ? {} : { listKind }),
    ...(categories.length === 0 ? {} : { categories }),
  }
}

const approvalReasons = {
  approved: 'ApprovedAnnotation',
  bypassed: 'UnapprovedAnnotation',
  missing: 'MissingAnnotation',
  invalid: 'InvalidAnnotation',
} as const

function approvalCondition(definition: Definition): NewCondition {
  const { state, reason } = approvalOf(definition)
  return {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: state === 'approved' ? 'True' : 'False',
    reason: approvalReasons[state],
    message: reason,
  }
}
