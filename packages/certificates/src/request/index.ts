/** Decoders of requests, certificates and PEM, without Node built-ins. Entry point `@krmkit/certificates/request`. */

export { encodeBase64, writePem } from '@krmkit/meta/der'
export { CertificateError, type CertificateErrorCode } from '../certificate-error.ts'
export { builtInSigners } from '../signers/names.ts'
export { validateKubeletClientRequest, validateKubeletServingRequest } from '../signers/rules.ts'
export type { AlternativeNames } from './alternative-names.ts'
export { type CertificateInfo, decodeCertificate, readCertificates, validateCertificateBundle } from './certificate.ts'
export {
  type AlgorithmIdentifier,
  type CertificateRequest,
  decodeCertificateRequest,
  readCertificateRequest,
  readSigningRequest,
} from './certificate-request.ts'
export { type DistinguishedName, formatDistinguishedName, type NameAttribute } from './distinguished-name.ts'
export type { Extension } from './extensions.ts'
export { decodeBase64, type PemBlock, readPemBlocks } from './pem.ts'
export type { PublicKeyInfo } from './public-key.ts'
export { validateTrustBundle, validateTrustBundleSteps } from './trust-bundle.ts'
