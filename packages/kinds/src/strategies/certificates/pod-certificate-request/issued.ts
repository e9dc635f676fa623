/** The certificate of a request that is issued. */

import {
  type CertificateInfo,
  decodeBase64,
  decodeCertificate,
  decodeCertificateRequest,
  readPemBlocks,
} from '@krmkit/certificates/request'
import type { DeepReadonly } from '@krmkit/meta'
import { parseTime } from '@krmkit/meta/time'
import type { PodCertificateRequest } from '../../../types/certificates-v1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { isEmpty } from '../../shared/values.ts'

type Request = DeepReadonly<PodCertificateRequest>

const minute = 60 * 1000
const hour = 60 * minute
const maxChain = 100 * 1024

/** @param at path of the status. The first problem is reported. */
export function validateIssued(request: Request, old: Request, at: FieldPath): void {
  const chain = request.status?.certificateChain ?? ''
  const here = at.child('certificateChain')
  if (chain.length > maxChain) {
    here.tooLong('', maxChain)
    return
  }
  const [leaf, ...others] = readPemBlocks(chain)
  if (leaf === undefined) here.invalid(chain, 'issued certificate chain must contain at least one certificate')
  else if (leaf.type !== 'CERTIFICATE')
    here.invalid(chain, 'issued certificate chain must consist entirely of CERTIFICATE PEM blocks')
  else {
    const certificate = decoded(leaf.bytes)
    if (certificate === undefined) here.invalid(chain, 'leaf certificate does not parse as valid X.509')
    else if (!hasKeyOf(certificate, old)) here.invalid(chain, 'leaf certificate was not issued to the requested public key')
    else if (validateTimes(request, certificate, at)) validateRest(others, chain, here)
  }
}

function validateRest(
  others: readonly { readonly type: string; readonly bytes: Uint8Array }[],
  chain: string,
  at: FieldPath,
): void {
  for (const { type, bytes } of others) {
    if (type !== 'CERTIFICATE') at.invalid(chain, 'issued certificate chain must consist entirely of CERTFICATE PEM blocks')
    else if (decoded(bytes) === undefined) at.invalid(chain, 'intermediate certificate does not parse as valid X.509')
    else continue
    return
  }
}

function decoded(bytes: Uint8Array): CertificateInfo | undefined {
  try {
    return decodeCertificate(bytes)
  } catch {
    return undefined
  }
}

/** Whether a certificate is for the key of the request; before v1 a request may give the key itself. */
function hasKeyOf({ publicKey }: CertificateInfo, { spec }: Request): boolean {
  const { pkixPublicKey } = (spec ?? {}) as { readonly pkixPublicKey?: string | null }
  try {
    const spki = isEmpty(spec?.stubPKCS10Request)
      ? decodeBase64(pkixPublicKey ?? '')
      : decodeCertificateRequest(decodeBase64(spec.stubPKCS10Request) ?? new Uint8Array()).publicKey.spki
    const own = publicKey.spki
    return spki?.length === own.length && own.every((byte, i) => byte === spki[i])
  } catch {
    return false
  }
}

/** @returns whether the times agree with the certificate. */
function validateTimes({ spec, status }: Request, certificate: CertificateInfo, at: FieldPath): boolean {
  const before = at.errors.length
  const consistent = 'must be present and consistent with the issued certificate'
  const { notBefore, notAfter, beginRefreshAt } = status ?? {}
  if (isEmpty(notBefore)) at.child('notBefore').required(consistent)
  if (isEmpty(notAfter)) at.child('notAfter').required(consistent)
  if (isEmpty(beginRefreshAt))
    at.child('beginRefreshAt').required('must be present and in the range [notbefore+10min, notafter-10min]')
  if (at.errors.length > before) return false
  const [start, end, refresh] = [notBefore, notAfter, beginRefreshAt].map((time) => parseTime(time as string)) as [
    number,
    number,
    number,
  ]
  const lifetime = certificate.notAfter - certificate.notBefore
  const most = Number(spec?.maxExpirationSeconds ?? 0)
  const now = at.errors.context.clock.now()
  if (start !== certificate.notBefore)
    at.child('notBefore').invalid(notBefore, 'must be set to the NotBefore time encoded in the leaf certificate')
  else if (Math.abs(start - now) > 5 * minute)
    at.child('notBefore').invalid(notBefore, "must be set to within 5 minutes of kube-apiserver's current time")
  else if (end !== certificate.notAfter)
    at.child('notAfter').invalid(notAfter, 'must be set to the NotAfter time encoded in the leaf certificate')
  else if (lifetime < hour) at.child('certificateChain').invalid(lifetime * 1e6, 'leaf certificate lifetime must be >= 1 hour')
  else if (lifetime > most * 1000)
    at.child('certificateChain').invalid(
      lifetime * 1e6,
      `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${most})`,
    )
  else if (refresh < start + 10 * minute)
    at.child('beginRefreshAt').invalid(beginRefreshAt, 'must be at least 10 minutes after status.notBefore')
  else if (refresh > end - 10 * minute)
    at.child('beginRefreshAt').invalid(beginRefreshAt, 'must be at least 10 minutes before status.notAfter')
  return at.errors.length === before
}
