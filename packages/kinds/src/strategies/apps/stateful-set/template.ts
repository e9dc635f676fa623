/** The pods and claims of a stateful set, which 1.34 validates when the set is written. */

import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { StatefulSetSpec } from '../../../types/apps-v1.generated.ts'
import type { PodSpec, PodTemplateSpec, Volume } from '../../../types/core-v1.generated.ts'
import { validateClaimSpec } from '../../shared/claim-spec.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { emptyPodSpec } from '../../shared/pod-template.ts'
import { isEmpty, type R } from '../../shared/values.ts'

/** The template as its pods will be: the controller sets the host name and adds the volumes of the claims. */
export function templateOfPods({ template, volumeClaimTemplates }: R<StatefulSetSpec>): R<PodTemplateSpec> {
  const spec = template?.spec ?? emptyPodSpec
  if (isEmpty(spec.hostname) && isEmpty(spec.subdomain) && isEmpty(volumeClaimTemplates)) return template ?? {}
  const { hostname: _hostname, subdomain: _subdomain, ...rest } = spec
  return {
    ...template,
    spec: isEmpty(volumeClaimTemplates) ? rest : { ...rest, volumes: volumesWithClaims(spec, volumeClaimTemplates) },
  }
}

function volumesWithClaims(spec: R<PodSpec>, claims: NonNullable<R<StatefulSetSpec>['volumeClaimTemplates']>): R<Volume>[] {
  const names = new Set(claims.map(({ metadata }) => metadata?.name ?? ''))
  const own = (spec.volumes ?? []).filter(({ name }) => !names.has(name))
  return [...[...names].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })), ...own]
}

/** Claims of a new set are validated as new claims. */
export function validateClaimTemplates({ volumeClaimTemplates }: R<StatefulSetSpec>, at: FieldPath): void {
  const hasAttributesClass = gateEnabled('VolumeAttributesClass', at.errors.context.features)
  for (const [i, claim] of (volumeClaimTemplates ?? []).entries())
    validateClaimSpec(claim.spec ?? {}, at.index(i).child('spec'), { hasAttributesClass })
}
