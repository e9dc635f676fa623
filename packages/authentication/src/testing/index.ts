export {
  type AuthorityOptions,
  type AuthorityRequest,
  type CertificateAuthority,
  type CertificateRequest,
  certificateAuthority,
  type IssuedCertificate,
} from './certificate-authority.ts'
export { type ForgedToken, forgeToken } from './forged-token.ts'
export { type FrontProxyLab, frontProxyLab, proxyHeaders } from './front-proxy-lab.ts'
export type { LabFault, LabFaults } from './lab-fetch.ts'
export { type OidcLab, type OidcLabOptions, oidcLab, type TokenOptions } from './oidc-lab.ts'
export { type KnownToken, type WebhookLab, webhookLab } from './webhook-lab.ts'
