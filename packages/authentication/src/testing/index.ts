export {
  type AuthorityOptions,
  type AuthorityRequest,
  type CertificateAuthority,
  type CertificateRequest,
  certificateAuthority,
  type IssuedCertificate,
} from './certificate-authority.ts'
export type { LabFault, LabFaults } from './fake-fetch.ts'
export { type FrontProxyLab, frontProxyLab, proxyHeaders } from './fake-front-proxy.ts'
export { type OidcLab, type OidcLabOptions, oidcLab, type TokenOptions } from './fake-oidc-provider.ts'
export { type KnownToken, type WebhookLab, webhookLab } from './fake-token-webhook.ts'
export { type ForgedToken, forgeToken } from './forged-token.ts'
