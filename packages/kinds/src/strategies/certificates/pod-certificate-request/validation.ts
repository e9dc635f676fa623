/** Rules of PodCertificateRequest. */

import type { Work } from '@krmkit/base/work'
import { type CertificateRequest, decodeBase64, decodeCertificateRequest, type PublicKeyInfo } from '@krmkit/certificates/request'
import type { DeepReadonly } from '@krmkit/meta'
import { validateDns1123Subdomain } from '@krmkit/meta/names'
import { validateConditions } from '@krmkit/meta/validation'
import type { PodCertificateRequest, PodCertificateRequestSpec } from '../../../types/certificates-v1.generated.ts'
import { validateUserAnnotations } from '../../shared/certificate-projection.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { isKubernetesSigner, validateSignerName } from '../../shared/signer-name.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateIssued } from './issued.ts'

type Request = DeepReadonly<PodCertificateRequest>

const hour = 60 * 60
const day = 24 * hour
const longest = 91 * day
const maxUid = 128
const maxRequestBytes = 10 * 1024

export function* validateRequest(request: Request, errors: ContextErrorList): Work {
  yield* validateMetadata(request, errors, { namespaced: true })
  const at = errors.child('spec')
  const spec: R<Partial<PodCertificateRequestSpec>> = request.spec ?? {}
  validateSignerName(spec.signerName ?? '', at.child('signerName'))
  if (isSet(spec.unverifiedUserAnnotations))
    validateUserAnnotations(spec.unverifiedUserAnnotations, at.child('unverifiedUserAnnotations'))
  for (const kind of ['pod', 'serviceAccount', 'node'] as const) {
    const name = spec[`${kind}Name`] ?? ''
    at.child(`${kind}Name`).invalidAll(name, validateDns1123Subdomain(name))
    validateUid(spec[`${kind}UID`] ?? '', at.child(`${kind}UID`))
  }
  const { maxExpirationSeconds: seconds, signerName = '' } = spec
  const here = at.child('maxExpirationSeconds')
  if (!isSet(seconds)) {
    here.required('must be set')
    return
  }
  const most = isKubernetesSigner(signerName, at.profile.domain) ? day : longest
  if (seconds < hour || seconds > most) here.invalid(seconds, `must be in the range [${hour}, ${most}]`)
  validateKey(spec, at)
}

function validateUid(uid: string, at: FieldPath): void {
  if (uid === '') at.invalid(uid, 'must not be empty')
  if (uid.length > maxUid) at.tooLong(uid, maxUid)
}

/** The members of a key in versions before v1. */
interface DeprecatedKey {
  readonly pkixPublicKey?: string | null
  readonly proofOfPossession?: string | null
}

/**
 * A request of PKCS#10, signed with its key; before v1 also a key with a proof. `Differs:` the proof is not verified: signers compare the
 * certificate with the key.
 */
function validateKey(spec: R<Partial<PodCertificateRequestSpec>>, at: FieldPath): void {
  const { pkixPublicKey, proofOfPossession } = spec as DeprecatedKey
  const { release } = at.errors.context.features
  if (!release.atLeast('1.36')) {
    for (const [name, bytes] of [
      ['pkixPublicKey', pkixPublicKey],
      ['proofOfPossession', proofOfPossession],
    ] as const)
      if (byteLength(bytes) > maxRequestBytes) at.child(name).tooLong('', maxRequestBytes)
    return
  }
  const hasKey = !isEmpty(pkixPublicKey) && !isEmpty(proofOfPossession)
  const hasSome = !isEmpty(pkixPublicKey) || !isEmpty(proofOfPossession)
  const hasRequest = !isEmpty(spec.stubPKCS10Request)
  if (hasRequest && !hasSome) validateStub(spec.stubPKCS10Request, at.child('stubPKCS10Request'))
  else if (hasRequest || !hasKey)
    at.errors.child('spec').invalid('', 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set')
}

function byteLength(base64: string | null | undefined): number {
  return decodeBase64(base64 ?? '')?.length ?? 0
}

function validateStub(base64: string | null | undefined, at: FieldPath): void {
  const bytes = decodeBase64(base64 ?? '') ?? new Uint8Array()
  if (bytes.length > maxRequestBytes) {
    at.tooLong('', maxRequestBytes)
    return
  }
  const request = decoded(bytes)
  const problem = request === undefined ? 'must be a valid PKCS#10 CSR' : keyProblem(request.publicKey)
  if (problem !== undefined) at.invalid('', problem)
  else if (request !== undefined && at.errors.context.requestSignatureError?.(request) !== undefined)
    at.invalid('', 'invalid signature')
}

function decoded(bytes: Uint8Array): CertificateRequest | undefined {
  try {
    return decodeCertificateRequest(bytes)
  } catch {
    return undefined
  }
}

function keyProblem(key: PublicKeyInfo): string | undefined {
  if (key.algorithm === 'ECDSA')
    return key.curve === 'P-224' ? 'elliptic public keys must use curve P256, P384, or P521' : undefined
  if (key.algorithm === 'RSA') return [3072, 4096].includes(key.bits) ? undefined : 'RSA keys must have modulus size 3072 or 4096'
  return key.algorithm === 'Ed25519' ? undefined : 'unknown public key type; supported types are Ed25519, ECDSA, and RSA'
}

export function* validateRequestUpdate(request: Request, old: Request, errors: ContextErrorList): Work {
  yield* validateMetadataUpdate(request, old, errors)
  if (!(yield* semanticEqual(request.spec, old.spec))) errors.child('spec').invalid(request.spec ?? {}, 'field is immutable')
}

const terminal = ['Denied', 'Failed', 'Issued']
const conditionsOf = ({ status }: Request) => status?.conditions ?? []
const holds = (request: Request, ...types: string[]): boolean =>
  conditionsOf(request).some(({ type, status }) => types.includes(type) && status === 'True')

/** One condition ends a request. Whether the user may sign is a question of authorization. */
export function* validateStatusUpdate(request: Request, old: Request, errors: ContextErrorList): Work {
  yield* validateMetadataUpdate(request, old, errors)
  if (errors.length > 0) return
  const at = errors.child('status')
  validateKinds(request, at.child('conditions'))
  at.child('conditions').add(validateConditions(conditionsOf(request), at.child('conditions').path()))
  if (errors.length > 0) return
  if (holds(old, ...terminal)) {
    if (!(yield* semanticEqual(request.status, old.status)))
      at.invalid(request.status ?? {}, 'immutable after PodCertificateRequest is issued, denied, or failed')
  } else if (holds(request, 'Denied', 'Failed')) {
    const { conditions: _, ...others } = request.status ?? {}
    if (Object.values(others).some((value) => isSet(value) && value !== ''))
      at.invalid(
        request.status ?? {},
        'non-condition status fields must be empty when denying or failing the PodCertificateRequest',
      )
  } else if (holds(request, 'Issued')) validateIssued(request, old, at)
}

function validateKinds(request: Request, at: FieldPath): void {
  let known = 0
  for (const [i, { type, status }] of conditionsOf(request).entries()) {
    const here = at.index(i)
    if (!terminal.includes(type)) {
      here.child('type').notSupported(type, ['Issued', 'Denied', 'Failed'])
      continue
    }
    known++
    if (known > 1)
      here.child('type').invalid(type, 'There may be at most one condition with type "Issued", "Denied", or "Failed"')
    if (status !== 'True') here.child('status').notSupported(status, ['True'])
  }
}
