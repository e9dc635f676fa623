import { readSigningRequest } from '@krmkit/certificates/request'

/** The subject of a certificate request. The signer, not admission, verifies the signature. */
export interface RequestSubject {
  /** The last common name; empty when absent. */
  readonly commonName: string
  readonly organizations: readonly string[]
}

/**
 * Reads the subject with the signer's own parser, so that admission and signer see the same names.
 *
 * @param request `spec.request` of a CertificateSigningRequest: base64 of PEM.
 * @returns the problem when the request does not parse.
 */
export function readRequestSubject(request: string): RequestSubject | { readonly problem: string } {
  try {
    const { commonName, organizations } = readSigningRequest(request).subject
    return { commonName, organizations }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}
