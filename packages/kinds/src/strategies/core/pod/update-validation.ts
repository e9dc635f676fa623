/** Update rules of pods. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { goQuote, joinFormatted } from '@krmkit/meta/go-text'
import type { Container, NodeSelectorTerm, Pod, PodSpec, Toleration } from '../../../types/core-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { forEachKey } from '../../shared/for-each.ts'
import { validateMetadataUpdate } from '../../shared/metadata.ts'
import { tolerationText } from '../../shared/node-selector.ts'
import { between, maxInt32 } from '../../shared/numbers.ts'
import { emptyPodSpec, validatePodAnnotations } from '../../shared/pod-template.ts'
import { sortedKeys } from '../../shared/sorted-keys.ts'
import { structDiff } from '../../shared/struct-diff.ts'
import { isEmpty, isSet, own, type R } from '../../shared/values.ts'
import { validatePod } from './validation.ts'

const mutableMembers = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')

/** Rules of an update of the main resource. */
export function* validatePodUpdate(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>, errors: ContextErrorList): Work {
  const spec = pod.spec ?? emptyPodSpec
  const before = old.spec ?? emptyPodSpec
  const at = errors.child('spec')
  yield* validateMetadataUpdate(pod, old, errors)
  yield* validatePod(pod, errors)
  yield* validateAnnotationUpdates(pod, old, errors.child('metadata').child('annotations'))
  if (!validateImages(spec.containers, before.containers, at.child('containers'))) return
  if (!validateImages(spec.initContainers, before.initContainers, at.child('initContainers'))) return
  if (!validateDeadline(spec, before, at.child('activeDeadlineSeconds'))) return
  validateAddedTolerations(spec.tolerations ?? [], before.tolerations ?? [], at.child('tolerations'))
  validateRemovedGates(spec, before, at.child('schedulingGates'))
  if (yield* semanticEqual(spec, before)) return
  yield* validateRest(spec, before, at)
}

/** Returns false if the number of containers differs, so that nothing else can be compared. */
function validateImages(
  now: readonly R<Container>[] | undefined,
  before: readonly R<Container>[] | undefined,
  at: FieldPath,
): boolean {
  if ((now?.length ?? 0) !== (before?.length ?? 0)) {
    at.forbidden('pod updates may not add or remove containers')
    return false
  }
  for (const [i, container] of (now ?? []).entries()) if (isEmpty(container.image)) at.index(i).child('image').required()
  return true
}

function validateDeadline(spec: R<PodSpec>, before: R<PodSpec>, at: FieldPath): boolean {
  const now = spec.activeDeadlineSeconds
  const then = before.activeDeadlineSeconds
  if (!isSet(now)) {
    if (isSet(then)) at.invalid(null, 'must not update from a positive integer to nil value')
    return true
  }
  if (now < 0 || now > maxInt32) at.invalid(now, between(0, maxInt32))
  else if (isSet(then) && then < now) at.invalid(now, 'must be less than or equal to previous value')
  else return true
  return false
}

/** Tolerations may be added; of an existing one only `tolerationSeconds` may change. */
function validateAddedTolerations(now: readonly R<Toleration>[], before: readonly R<Toleration>[], at: FieldPath): void {
  const known = new Set(now.map((toleration) => tolerationText(toleration, { seconds: false })))
  for (const old of before) {
    if (!known.has(tolerationText(old, { seconds: false }))) {
      at.forbidden('existing toleration can not be modified except its tolerationSeconds')
      return
    }
  }
  // The validation of the whole specification covers the added ones.
}

/** Of new gates with one name, the last one is named. */
function validateRemovedGates(spec: R<PodSpec>, before: R<PodSpec>, at: FieldPath): void {
  const added = new Map((spec.schedulingGates ?? []).map(({ name }, i) => [name, i]))
  for (const { name } of before.schedulingGates ?? []) added.delete(name)
  for (const [name, i] of added)
    at.index(i).child('name').forbidden(`only deletion is allowed, but found new scheduling gate '${name}'`)
}

/** All members without a rule above are immutable. */
function* validateRest(spec: R<PodSpec>, before: R<PodSpec>, at: FieldPath): Work {
  const gated = !isEmpty(before.schedulingGates)
  const relaxedGrace = Number(before.terminationGracePeriodSeconds ?? 0) < 0 && spec.terminationGracePeriodSeconds === 1
  const withOldImages = (now: readonly R<Container>[] | undefined, then: readonly R<Container>[] | undefined) =>
    isEmpty(now) ? undefined : now.map((container, i) => ({ ...container, image: then?.[i]?.image }))
  const munged: Record<string, unknown> = {
    ...spec,
    containers: withOldImages(spec.containers, before.containers),
    initContainers: withOldImages(spec.initContainers, before.initContainers),
    activeDeadlineSeconds: before.activeDeadlineSeconds,
    schedulingGates: before.schedulingGates,
    tolerations: before.tolerations,
  }
  if (relaxedGrace) munged.terminationGracePeriodSeconds = before.terminationGracePeriodSeconds
  if (gated) {
    yield* validateNodeSelectorMutation(spec.nodeSelector, before.nodeSelector, at.child('nodeSelector'))
    munged.nodeSelector = before.nodeSelector
    yield* validateNodeAffinityMutation(spec, before, at.child('affinity').child('nodeAffinity'))
    munged.affinity = yield* withOldNodeAffinity(spec.affinity, before.affinity)
  }
  if (yield* semanticEqual(munged, before)) return
  const diff = yield* structDiff('core.PodSpec', { before, after: munged }, at.errors.context.features)
  at.forbidden(`pod updates may not change fields other than ${mutableMembers}\n${diff}`)
}

/** The affinity with the old rules for nodes, which have a validation of their own. */
function* withOldNodeAffinity(now: PodAffinity, before: PodAffinity): Work<PodAffinity> {
  const nodeAffinity = before?.nodeAffinity
  if (yield* semanticEqual(now?.nodeAffinity, nodeAffinity)) return now
  const { nodeAffinity: _, ...rest } = now ?? {}
  if (isSet(nodeAffinity)) return { ...rest, nodeAffinity }
  return isSet(before) || isSet(rest.podAffinity) || isSet(rest.podAntiAffinity) ? rest : undefined
}

type PodAffinity = R<PodSpec>['affinity']

function* validateNodeSelectorMutation(now: R<PodSpec>['nodeSelector'], before: R<PodSpec>['nodeSelector'], at: FieldPath): Work {
  let changed = false
  yield* forEachKey(before, (key, value) => {
    changed ||= own(now, key) !== value
  })
  if (changed) {
    const printed = joinFormatted(yield* sortedKeys(now ?? {}), (name) => `${goQuote(name)}:${goQuote(own(now, name) ?? '')}`)
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
    at.invalidText(`map[string]string{${printed}}`, detail)
  }
}

/** While scheduling gates remain, node affinity may be narrowed: terms may gain requirements but lose none. */
function* validateNodeAffinityMutation(spec: R<PodSpec>, before: R<PodSpec>, at: FieldPath): Work {
  const place = at.child('requiredDuringSchedulingIgnoredDuringExecution')
  const now = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const then = before.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (!isSet(then?.nodeSelectorTerms)) return
  const terms = now?.nodeSelectorTerms ?? []
  if (terms.length !== then.nodeSelectorTerms.length) {
    place.child('nodeSelectorTerms').invalid('', 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')
    return
  }
  for (const [i, term] of then.nodeSelectorTerms.entries()) {
    if (yield* isNarrowed(terms[i], term)) continue
    place.child('nodeSelectorTerms').index(i).invalid('', 'only additions are allowed (no mutations or deletions)')
  }
}

function* isNarrowed(now: R<NodeSelectorTerm> | undefined, before: R<NodeSelectorTerm>): Work<boolean> {
  if (isEmpty(before.matchExpressions) && isEmpty(before.matchFields)) return yield* semanticEqual(now ?? {}, before)
  for (const name of ['matchExpressions', 'matchFields'] as const) {
    for (const [i, requirement] of (before[name] ?? []).entries())
      if (!(yield* semanticEqual(now?.[name]?.[i], requirement))) return false
  }
  return true
}

/** Annotations that the kubelet trusts are immutable and may be set on create only. */
export function* validateAnnotationUpdates(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>, at: FieldPath): Work {
  const mirrorKey = `${at.profile.domain}/config.mirror`
  const now = own(pod.metadata.annotations, mirrorKey)
  const before = own(old.metadata.annotations, mirrorKey)
  if (before !== undefined && now !== before) at.key(mirrorKey).forbidden('may not remove or update mirror pod annotation')
  if (before === undefined && now !== undefined) at.key(mirrorKey).forbidden('may not add mirror pod annotation')
  yield* validatePodAnnotations(pod.metadata.annotations, at, pod.spec ?? emptyPodSpec)
}
