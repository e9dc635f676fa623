/** The specification of persistent volume claims, also in ephemeral volumes and stateful sets. */
import { nameRules } from '@krmkit/meta'
import { goText } from '@krmkit/meta/go-text'
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { validateSelector } from './labels.ts'
import { amount, sign } from './quantities.ts'
import { validateResourceAmount } from './resource-names.ts'
import { isEmpty, isSet, own, type R } from './values.ts'

/** Volume access modes, sorted. */
export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const volumeModes = ['Block', 'Filesystem']

/**
 * Validates a claim specification.
 *
 * @see Configuration and storage specification, 2.4
 */
export function validateClaimSpec(spec: R<PersistentVolumeClaimSpec>, at: FieldPath): void {
  if (isEmpty(spec.accessModes)) at.child('accessModes').required('at least 1 access mode is required')
  validateSelector(spec.selector, at.child('selector'))
  validateAccessModes(spec.accessModes, at.child('accessModes'))
  validateStorageRequest(own(spec.resources?.requests, 'storage'), at.child('resources').key('storage'))
  const className = spec.storageClassName
  if (!isEmpty(className)) at.child('storageClassName').invalidAll(className, nameRules.dns1123Subdomain(className, false))
  const mode = spec.volumeMode
  if (isSet(mode) && !volumeModes.includes(mode)) at.child('volumeMode').notSupported(mode, volumeModes)
  if (isSet(spec.dataSource)) validateDataSource(spec.dataSource, at.child('dataSource'))
  if (isSet(spec.dataSourceRef)) validateDataSource(spec.dataSourceRef, at.child('dataSourceRef'))
  if (isSet(spec.dataSource) && isSet(spec.dataSourceRef) && !sameSource(spec.dataSource, spec.dataSourceRef)) {
    at.invalid(goText('field.Path{name:"dataSource", index:"", parent:(*field.Path)(nil)}'), 'must match dataSourceRef')
  }
  const attributes = spec.volumeAttributesClassName
  if (!isEmpty(attributes)) {
    at.child('volumeAttributesClassName').invalidAll(attributes, nameRules.dns1123Subdomain(attributes, false))
  }
}

/** Access modes must be known, and `ReadWriteOncePod` must be the only one. */
export function validateAccessModes(modes: readonly string[] | null | undefined, at: FieldPath): void {
  for (const mode of modes ?? []) if (!accessModes.includes(mode)) at.notSupported(mode, accessModes)
  const alone = modes?.includes('ReadWriteOncePod') === true
  if (alone && modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(mode))) {
    at.forbidden('may not use ReadWriteOncePod with other access modes')
  }
}

function validateStorageRequest(value: string | undefined, at: FieldPath): void {
  if (value === undefined) at.required()
  else if (sign(amount(value)) <= 0) at.invalid(amount(value).toString(), 'must be greater than zero')
  else validateResourceAmount('storage', value, at)
}

function validateDataSource(source: R<TypedLocalObjectReference | TypedObjectReference>, at: FieldPath): void {
  if (isEmpty(source.name)) at.child('name').required()
  if (isEmpty(source.kind)) at.child('kind').required()
  const group = source.apiGroup ?? ''
  if (group === '' && source.kind !== 'PersistentVolumeClaim') {
    at.invalid(source.kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
  }
  if (group !== '') at.child('apiGroup').invalidAll(group, nameRules.dns1123Subdomain(group, false))
}

function sameSource(a: R<TypedLocalObjectReference>, b: R<TypedObjectReference>): boolean {
  return (a.apiGroup ?? '') === (b.apiGroup ?? '') && a.kind === b.kind && a.name === b.name
}
