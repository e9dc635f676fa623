import { readSigningRequest } from '@krmkit/certificates/request'

/** Whom a certificate request names. That its signature holds is the business of who signs. */
export interface RequestSubject {
  /** The last one, as usual. Empty when there is none. */
  readonly commonName: string
  readonly organizations: readonly string[]
}

/**
 * Read by the same reader as the signer's, so that what is let in here is what is signed there.
 *
 * @param request `spec.request` of a CertificateSigningRequest: base64 of PEM. @returns undefined when it cannot be read
 */
export function readRequestSubject(request: string): RequestSubject | undefined {
  try {
    const { commonName, organizations } = readSigningRequest(request).subject
    return { commonName, organizations }
  } catch {
    return undefined
  }
}
