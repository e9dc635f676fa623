export { CertificateError, type CertificateErrorCode } from './certificate-error.ts'
export type { KeyPair } from './self-signed.ts'
export { localHosts, type ServingCertificate, type ServingCertificateOptions, servingCertificate } from './serving-certificate.ts'
