/** Validation of CertificateSigningRequests, with the decoders of requests and certificates. */

import type { Work } from '@krmkit/base/work'
import { decodeBase64, readSigningRequest, validateCertificateBundle } from '@krmkit/certificates/request'
import type { DeepReadonly } from '@krmkit/meta'
import { goText, joinFormatted } from '@krmkit/meta/go-text'
import type { StrategyContext } from '../../../interfaces.ts'
import type { CertificateSigningRequest } from '../../../types/certificates-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.direct.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateSignerName } from '../../shared/signer-name.ts'
import { structDiff } from '../../shared/struct-diff.ts'
import { isSet, type R } from '../../shared/values.ts'
import { conditionsOf } from './conditions.ts'

type Csr = CertificateSigningRequest
type Request = DeepReadonly<Csr>

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]
const minExpirationSeconds = 600
/** Condition types that state facts and so must not be false. */
const trueOnlyTypes = ['Approved', 'Denied', 'Failed']

/** The error of a base64 text that must hold a PKCS#10 request in PEM, signed with its own key. */
function requestError(request: string | null | undefined, { requestSignatureError }: StrategyContext): string | undefined {
  try {
    const decoded = readSigningRequest(request)
    return requestSignatureError?.(decoded)
  } catch (error) {
    return error instanceof Error ? error.message : 'malformed certificate request'
  }
}

/** The error of a base64 text that must hold certificates in PEM; an empty text is valid. */
function certificateError(certificate: string | null | undefined): string | undefined {
  const bytes = decodeBase64(certificate ?? '')
  return bytes === undefined ? undefined : validateCertificateBundle(new TextDecoder('latin1').decode(bytes))
}

/** `old` is undefined on create. An update may keep already invalid values unchanged. */
export function* validateRequest(csr: Request, old: Request | undefined, errors: ContextErrorList): Work {
  // Any name valid in a path is allowed; the generic rules check that.
  yield* validateMetadata(csr, errors, { namespaced: false, name: () => [] })
  const at = errors.child('spec')
  const spec: R<Partial<Csr['spec']>> = csr.spec ?? {}
  const error = requestError(spec.request, errors.context)
  if (error !== undefined) at.child('request').invalid(printBytes(spec.request), error)
  validateUsages(spec.usages ?? [], old?.spec?.usages, errors)
  const signer = spec.signerName ?? ''
  const legacy = `${errors.context.profile.domain}/legacy-unknown`
  if (signer === legacy && old?.spec?.signerName !== legacy) {
    at.child('signerName').invalid(signer, 'the legacy signerName is not allowed via this API version')
  } else validateSignerName(signer, at.child('signerName'))
  const seconds = spec.expirationSeconds
  if (isSet(seconds) && seconds < minExpirationSeconds) {
    at.child('expirationSeconds').invalid(seconds, 'may not specify a duration less than 600 seconds (10 minutes)')
  }
  validateConditions(csr, old, errors)
  const certificate = csr.status?.certificate
  const before = old?.status?.certificate
  const tolerated = old !== undefined && ((certificate ?? '') === (before ?? '') || certificateError(before) !== undefined)
  const wrong = tolerated ? undefined : certificateError(certificate)
  if (wrong !== undefined) errors.child('status').child('certificate').invalid('<certificate data>', wrong)
}

function printBytes(base64: string | null | undefined) {
  const bytes = decodeBase64(base64 ?? '') ?? new Uint8Array()
  if (bytes.length === 0) return goText('[]byte(nil)')
  return goText(`[]byte{${joinFormatted(bytes, (byte) => `0x${byte.toString(16)}`)}}`)
}

function validateUsages(list: readonly string[], old: readonly string[] | undefined, errors: ContextErrorList): void {
  const at = errors.child('spec').child('usages')
  if (list.length === 0) at.required()
  if (!(old ?? []).some((usage) => !usages.includes(usage))) {
    for (const [i, usage] of list.entries()) if (!usages.includes(usage)) at.index(i).notSupported(usage, usages)
  }
  if (new Set(old).size < (old ?? []).length) return
  const seen = new Set<string>()
  for (const [i, usage] of list.entries()) {
    if (seen.has(usage)) at.index(i).duplicate(usage)
    seen.add(usage)
  }
}

function validateConditions(csr: Request, old: Request | undefined, errors: ContextErrorList): void {
  const at = errors.child('status').child('conditions')
  const conditions = old?.status?.conditions ?? []
  const before = new Set<string>(conditions.map(({ type }) => type))
  const bothAllowed = before.has('Approved') && before.has('Denied')
  const twiceAllowed = before.size < conditions.length
  const seen = new Set<string>()
  for (const [i, { type = '', status = '' }] of (csr.status?.conditions ?? []).entries()) {
    const here = at.index(i)
    if (type === '' && !before.has('')) here.child('type').required()
    const allowed = trueOnlyTypes.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    if (status === '') here.child('status').required()
    else if (!allowed.includes(status)) here.child('status').notSupported(status, allowed)
    const contrary = (type === 'Approved' && seen.has('Denied')) || (type === 'Denied' && seen.has('Approved'))
    if (contrary && !bothAllowed) exclusionPath(at, here).invalid(type, 'Approved and Denied conditions are mutually exclusive')
    if (seen.has(type) && !twiceAllowed) here.child('type').duplicate(type)
    seen.add(type)
  }
}

/** Where both Approved and Denied are reported: since 1.34 on the list, as the rule of validation markers that replaces the error in 1.37. */
function exclusionPath(list: FieldPath, condition: FieldPath): FieldPath {
  return list.errors.context.features.release.atLeast('1.34') ? list : condition.child('type')
}

const conditionsType = '[]certificates.CertificateSigningRequestCondition'

/** What the writer of a sub-resource may change. */
export interface Rights {
  readonly approve?: boolean
  readonly sign?: boolean
}

export function* validateRequestUpdate(
  csr: Request,
  old: Request,
  errors: ContextErrorList,
  { approve = false, sign = false }: Rights,
): Work {
  yield* validateRequest(csr, old, errors)
  const at = errors.child('status')
  for (const type of trueOnlyTypes) {
    const fewer = conditionsOf(csr, type).length < conditionsOf(old, type).length
    if (fewer) at.child('conditions').forbidden(`updates may not remove a condition of type "${type}"`)
  }
  for (const type of approve ? [] : ['Approved', 'Denied']) {
    const now = conditionsOf(csr, type)
    const before = conditionsOf(old, type)
    if (now.length > before.length) at.child('conditions').forbidden(`updates may not add a condition of type "${type}"`)
    else if (now.length === before.length && !semanticEqual(now, before)) {
      const diff = yield* structDiff(conditionsType, { before, after: now }, errors.context.features)
      at.child('conditions').forbidden(`updates may not modify a condition of type "${type}"\n${diff}`)
    }
  }
  const before = old.status?.certificate ?? ''
  if ((csr.status?.certificate ?? '') !== before) {
    if (!sign) at.child('certificate').forbidden('updates may not set certificate content')
    else if (before !== '') at.child('certificate').forbidden('updates may not modify existing certificate content')
  }
  yield* validateMetadataUpdate(csr, old, errors)
}
