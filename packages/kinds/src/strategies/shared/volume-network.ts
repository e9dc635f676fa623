/** Volume sources that pods and persistent volumes share: hostPath, nfs, iscsi, fc, flexVolume and csi. */
import { goStrings } from '@krmkit/meta/go-text'
import { validateDns1123Subdomain } from '@krmkit/meta/names'
import type {
  CSIVolumeSource,
  FCVolumeSource,
  HostPathVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  Volume,
} from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { between } from './numbers.ts'
import { validateNoBackstep } from './paths.ts'
import { sortedKeys } from './sorted-keys.direct.ts'
import { isEmpty, isSet, type R } from './values.ts'

/** One validation function per source of `T`. */
export type SourceChecks<T, Options = unknown> = {
  readonly [K in keyof T]?: (source: R<NonNullable<T[K]>>, at: FieldPath, options: Options) => void
}

/** Validation of these sources in a pod's volume. */
export const networkSources: SourceChecks<Volume> = {
  hostPath: validateHostPath,
  nfs: validateNfs,
  iscsi: (source, at) => validateIscsi(source, at),
  fc: validateFc,
  flexVolume: validateFlexVolume,
  csi(source: R<CSIVolumeSource>, at) {
    validateDriverName(source.driver ?? '', at.child('driver'))
    const secret = source.nodePublishSecretRef
    if (isSet(secret) && isEmpty(secret.name)) at.child('nodePublishSecretRef').child('name').required()
  },
}

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket']

export function validateHostPath(source: R<HostPathVolumeSource>, at: FieldPath): void {
  if (isEmpty(source.path)) {
    at.child('path').required()
    return
  }
  validateNoBackstep(source.path, at.child('path'))
  if (isSet(source.type) && !hostPathTypes.includes(source.type)) at.child('type').notSupported(source.type, hostPathTypes)
}

export function validateNfs(source: R<NFSVolumeSource>, at: FieldPath): void {
  if (isEmpty(source.server)) at.child('server').required()
  if (isEmpty(source.path)) at.child('path').required()
  if (!(source.path ?? '').startsWith('/')) at.child('path').invalid(source.path ?? '', 'must be an absolute path')
}

const initiatorForms: readonly (readonly [string, RegExp])[] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[A-Za-z0-9]{16}$/],
  ['naa', /^naa.[A-Za-z0-9]{32}$/],
]
const maxInitiator = 223

/** Members of both forms of the source, which differ in `secretRef`. */
type Iscsi = R<Omit<ISCSIVolumeSource, 'secretRef'>> & { readonly secretRef?: { readonly name?: string } }

/** @param volume name of the PersistentVolume; pods name their volumes elsewhere */
export function validateIscsi(source: Iscsi, at: FieldPath, volume?: string): void {
  const unknown = volume === undefined ? 'must be valid format starting with iqn, eui, or naa' : 'must be valid format'
  if (isEmpty(source.targetPortal)) at.child('targetPortal').required()
  if (volume !== undefined && isSet(source.initiatorName) && isTooLong(volume, source.targetPortal)) {
    at.child('targetportal').invalid(source.targetPortal, iscsiLengthProblem)
  }
  if (isEmpty(source.iqn)) at.child('iqn').required()
  else validateInitiator(source.iqn, at.child('iqn'), unknown)
  validateLun(source.lun, at.child('lun'))
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && !isSet(source.secretRef)) {
    at.child('secretRef').required()
  }
  if (isSet(source.initiatorName)) validateInitiator(source.initiatorName, at.child('initiatorname'), unknown)
}

/** The limit of the name of an interface that is made of both. */
export function isTooLong(volume: string, targetPortal = ''): boolean {
  return `${volume}:${targetPortal}`.length > 64
}

export const iscsiLengthProblem =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'

function validateInitiator(name: string, at: FieldPath, unknown: string): void {
  const form = initiatorForms.find(([prefix]) => name.startsWith(prefix))
  if (form === undefined) at.invalid(name, unknown)
  else if (name.length > maxInitiator || !form[1].test(name)) at.invalid(name, 'must be valid format')
}

function validateLun(lun: number | undefined, at: FieldPath): void {
  if (isSet(lun) && (lun < 0 || lun > 255)) at.invalid(lun, between(0, 255))
}

export function validateFc(source: R<FCVolumeSource>, at: FieldPath): void {
  const names = source.targetWWNs ?? []
  const ids = source.wwids ?? []
  if (names.length === 0 && ids.length === 0)
    at.child('targetWWNs').required('must specify either targetWWNs or wwids, but not both')
  if (names.length > 0 && ids.length > 0) {
    at.child('targetWWNs').invalidText(goStrings(names), 'targetWWNs and wwids can not be specified simultaneously')
  }
  if (names.length > 0) {
    if (!isSet(source.lun)) at.child('lun').required('lun is required if targetWWNs is specified')
    else validateLun(source.lun, at.child('lun'))
  }
}

export function validateFlexVolume(
  source: { readonly driver: string; readonly options?: Readonly<Record<string, string>> },
  at: FieldPath,
): void {
  if (isEmpty(source.driver)) at.child('driver').required()
  const { domain, apiDomain } = at.profile
  for (const key of sortedKeys(source.options)) {
    const namespace = `.${(key.includes('/') ? key.slice(0, key.indexOf('/')) : key).toLowerCase()}`
    if (namespace.endsWith(`.${domain}`) || namespace.endsWith(`.${apiDomain}`)) {
      at.child('options').key(key).invalid(key, `${domain} and ${apiDomain} namespaces are reserved`)
    }
  }
}

/**
 * Validates the name of a CSI driver.
 *
 * @see Configuration and storage specification, 2.8
 */
export function validateDriverName(name: string, at: FieldPath): void {
  if (name === '') {
    at.required()
    // Since 1.35 an absent name is one error.
    if (at.errors.context.features.release.atLeast('1.35')) return
  }
  if (name.length > 63) at.tooLong(name, 63)
  at.invalidAll(name, validateDns1123Subdomain(name.toLowerCase()))
}
