/** Decoders of requests, certificates and PEM, without Node built-ins. Entry point `@krmkit/certificates/request`. */

export { encodeBase64, writePem } from '@krmkit/base/der'
export { CertificateError, type CertificateErrorCode } from './certificate-error.ts'
export type { AlternativeNames } from './request/alternative-names.ts'
export { type CertificateInfo, decodeCertificate, readCertificates, validateCertificateBundle } from './request/certificate.ts'
export {
  type AlgorithmIdentifier,
  type CertificateRequest,
  decodeCertificateRequest,
  readCertificateRequest,
  readSigningRequest,
} from './request/certificate-request.ts'
export { type DistinguishedName, formatDistinguishedName, type NameAttribute } from './request/distinguished-name.ts'
export type { Extension } from './request/extensions.ts'
export { readPemBlocks } from './request/pem.direct.ts'
export { decodeBase64, type PemBlock } from './request/pem.ts'
export type { PublicKeyInfo } from './request/public-key.ts'
export { validateTrustBundle } from './request/trust-bundle.direct.ts'
export { builtInSigners } from './signers/names.ts'
export { validateKubeletClientRequest, validateKubeletServingRequest } from './signers/rules.ts'
