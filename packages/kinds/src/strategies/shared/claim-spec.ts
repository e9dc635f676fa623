/** The specification of persistent volume claims, also in ephemeral volumes and stateful sets. */
import { nameRules } from '@krmkit/meta'
import { goText } from '@krmkit/meta/go-text'
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference, TypedObjectReference } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { goStruct } from './go-form.ts'
import { validateSelector } from './labels.direct.ts'
import { amount, sign } from './quantities.ts'
import { validateResourceAmount } from './resource-names.ts'
import { isEmpty, isSet, own, type R } from './values.ts'

/** Volume access modes, sorted. */
export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const volumeModes = ['Block', 'Filesystem']

export interface ClaimSpecOptions {
  /** The old claim names an API group of a data source, so that the new one may have a malformed one. */
  readonly allowsAnyGroup?: boolean
  /** Validates the class of attributes, which is dropped without its feature gate. */
  readonly hasAttributesClass?: boolean
  /** Address that messages print: it differs from one validation to the next, which makes their texts differ. @default '0x0' */
  readonly address?: string
}

/**
 * Validates a claim specification.
 *
 * @see Configuration and storage specification, 2.4
 */
export function validateClaimSpec(spec: R<PersistentVolumeClaimSpec>, at: FieldPath, options: ClaimSpecOptions = {}): void {
  if (isEmpty(spec.accessModes)) at.child('accessModes').required('at least 1 access mode is required')
  validateSelector(spec.selector, at.child('selector'))
  validateAccessModes(spec.accessModes, at.child('accessModes'))
  validateStorageRequest(own(spec.resources?.requests, 'storage'), at.child('resources').key('storage'))
  const className = spec.storageClassName
  if (!isEmpty(className)) at.child('storageClassName').invalidAll(className, nameRules.dns1123Subdomain(className, false))
  const mode = spec.volumeMode
  if (isSet(mode) && !volumeModes.includes(mode)) at.child('volumeMode').notSupported(mode, volumeModes)
  validateDataSources(spec, at, options)
  const attributes = spec.volumeAttributesClassName
  if (!isEmpty(attributes) && options.hasAttributesClass === true) {
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

function validateDataSources(
  { dataSource, dataSourceRef }: R<PersistentVolumeClaimSpec>,
  at: FieldPath,
  { allowsAnyGroup = false, address = '0x0' }: ClaimSpecOptions,
): void {
  if (isSet(dataSource)) validateDataSource(dataSource, at.child('dataSource'), allowsAnyGroup)
  if (!isSet(dataSourceRef)) return
  const { namespace = '' } = dataSourceRef
  const here = at.child('dataSourceRef')
  validateDataSource(dataSourceRef, here, allowsAnyGroup)
  if (namespace !== '') here.child('namespace').invalidAll(namespace, nameRules.dns1123Label(namespace, false))
  if (!isSet(dataSource)) return
  // The messages of kube-apiserver show the path of a member where a value belongs.
  const parent = `(*field.Path)(${address})`
  const printedPath = goText(goStruct('field.Path', { name: '"dataSource"', index: '""', parent }))
  if (namespace !== '') at.invalid(printedPath, 'may not be specified when dataSourceRef.namespace is specified')
  else if (!sameSource(dataSource, dataSourceRef)) at.invalid(printedPath, 'must match dataSourceRef')
}

function validateDataSource(source: R<TypedLocalObjectReference | TypedObjectReference>, at: FieldPath, anyGroup: boolean): void {
  if (isEmpty(source.name)) at.child('name').required()
  if (isEmpty(source.kind)) at.child('kind').required()
  const group = source.apiGroup ?? ''
  if (group === '' && source.kind !== 'PersistentVolumeClaim') {
    at.invalid(source.kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")
  }
  if (group !== '' && !anyGroup) at.child('apiGroup').invalidAll(group, nameRules.dns1123Subdomain(group, false))
}

/** An absent group differs from an empty one. */
function sameSource(a: R<TypedLocalObjectReference>, b: R<TypedObjectReference>): boolean {
  return (a.apiGroup ?? undefined) === (b.apiGroup ?? undefined) && a.kind === b.kind && a.name === b.name
}
