/** `volumeAttributesClassName` of PersistentVolumes, a member behind a feature gate. */

import { type DeepReadonly, nameRules } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { PersistentVolume } from '../../../types/core-v1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { isSet } from '../../shared/values.ts'

type Volume = DeepReadonly<PersistentVolume>

const gate = 'VolumeAttributesClass'

/** @param old the stored volume, whose name is validated with the gate off, too */
export function validateAttributesClass({ spec }: Volume, errors: ContextErrorList, old: Volume | undefined): void {
  const name = spec?.volumeAttributesClassName
  if (!isSet(name)) return
  if (!gateEnabled(gate, errors.context.features) && !isSet(old?.spec?.volumeAttributesClassName)) return
  const at = errors.child('spec')
  const here = at.child('volumeAttributesClassName')
  if (name === '') here.required('an empty string is disallowed')
  else here.invalidAll(name, nameRules.dns1123Subdomain(name, false))
  if (!isSet(spec?.csi)) at.child('csi').required('has to be specified when using volumeAttributesClassName')
}

export function validateAttributesClassUpdate({ spec }: Volume, old: Volume, errors: ContextErrorList): void {
  const [name, before] = [spec?.volumeAttributesClassName, old.spec?.volumeAttributesClassName]
  if ((name ?? undefined) === (before ?? undefined)) return
  const at = errors.child('spec').child('volumeAttributesClassName')
  if (!gateEnabled(gate, errors.context.features)) at.forbidden(`update is forbidden when the ${gate} feature gate is disabled`)
  if (isSet(before) && !isSet(name)) at.forbidden('update from non-nil value to nil is forbidden')
}
