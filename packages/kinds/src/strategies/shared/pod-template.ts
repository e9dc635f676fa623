/** Pod templates of controllers, and annotations of pods. */

import type { Work } from '@krmkit/base/work'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote } from '@krmkit/meta/go-text'
import { validateAnnotations, validateLabels } from '@krmkit/meta/paced'
import type { PodSpec, PodTemplateSpec } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { forEachKey } from './for-each.ts'
import { validatePodSpec } from './pod-spec.ts'
import { isEmpty, isSet, own, type R } from './values.ts'

export const emptyPodSpec: PodSpec = Object.freeze({ containers: [] }) as PodSpec

/** `template` of a controller. */
export function* validatePodTemplate(template: R<PodTemplateSpec> | undefined, at: FieldPath): Work {
  const metadata = template?.metadata ?? {}
  const spec = template?.spec ?? emptyPodSpec
  at.add(yield* validateLabels(metadata.labels, at.child('labels').path()))
  at.add(yield* validateAnnotations(metadata.annotations, at.child('annotations').path()))
  yield* validatePodAnnotations(metadata.annotations, at.child('annotations'), spec)
  yield* validatePodSpec(spec, at.child('spec'), { isPod: false })
  if (!isEmpty(spec.ephemeralContainers)) {
    at.child('spec').child('ephemeralContainers').forbidden('ephemeral containers not allowed in pod template')
  }
}

/** Pods of a controller of `kind` restart always and have no deadline. */
export function validateAlwaysRunning(template: R<PodTemplateSpec>, at: FieldPath, kind: string): void {
  const { restartPolicy = '', activeDeadlineSeconds } = template.spec ?? emptyPodSpec
  const spec = at.child('spec')
  if (restartPolicy !== 'Always') spec.child('restartPolicy').notSupported(restartPolicy, ['Always'])
  if (isSet(activeDeadlineSeconds))
    spec.child('activeDeadlineSeconds').forbidden(`activeDeadlineSeconds in ${kind} is not Supported`)
}

type Annotations = Readonly<Record<string, string>> | null | undefined

/** Annotations that affect pods. */
export function* validatePodAnnotations(annotations: Annotations, at: FieldPath, spec: R<PodSpec>): Work {
  const { domain } = at.profile
  const mirrorKey = `${domain}/config.mirror`
  const mirror = own(annotations, mirrorKey)
  if (mirror !== undefined && isEmpty(spec.nodeName)) {
    at.key(mirrorKey).invalid(mirror, 'must set spec.nodeName if mirror pod annotation is set')
  }
  const costKey = `controller.${domain}/pod-deletion-cost`
  const cost = own(annotations, costKey)
  const checksCost = gateEnabled('PodDeletionCost', at.errors.context.features)
  if (checksCost && cost !== undefined && !isInt32(cost)) at.key(costKey).invalid(cost, 'must be a 32bit integer')
  yield* validateSeccompAnnotations(annotations, at)
  yield* validateAppArmorAnnotations(annotations, at, spec)
}

function isInt32(text: string): boolean {
  if (!/^(0|-?[1-9][0-9]{0,9})$/.test(text)) return false
  const value = Number(text)
  return value >= -(2 ** 31) && value < 2 ** 31
}

function* validateSeccompAnnotations(annotations: Annotations, at: FieldPath): Work {
  const { domain } = at.profile
  const ofPod = `seccomp.security.alpha.${domain}/pod`
  const ofContainers = `container.seccomp.security.alpha.${domain}/`
  yield* forEachKey(annotations, (key, value) => {
    if (key !== ofPod && !key.startsWith(ofContainers)) return
    if (!['runtime/default', 'docker/default', 'unconfined'].includes(value) && !value.startsWith('localhost/')) {
      at.key(key).invalid(value, 'must be a valid seccomp profile')
    }
  })
}

function* validateAppArmorAnnotations(annotations: Annotations, at: FieldPath, spec: R<PodSpec>): Work {
  const prefix = `container.apparmor.security.beta.${at.profile.domain}/`
  let names: Set<string> | undefined
  yield* forEachKey(annotations, (key, value) => {
    if (!key.startsWith(prefix)) return
    const name = key.slice(prefix.length)
    const containers = [spec.initContainers, spec.containers, spec.ephemeralContainers]
    names ??= new Set(containers.flatMap((list) => (list ?? []).map((container) => container.name)))
    if (!names.has(name)) at.key(key).invalid(name, 'container not found')
    if (value !== '' && value !== 'runtime/default' && value !== 'unconfined' && !value.startsWith('localhost/')) {
      at.key(key).invalid(value, `invalid AppArmor profile name: ${goQuote(value)}`)
    }
  })
}
