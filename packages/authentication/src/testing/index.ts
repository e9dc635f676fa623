export {
  type AuthorityOptions,
  type AuthorityRequest,
  type CertificateAuthority,
  createCertificateAuthority,
  type IssuedCertificate,
  type TestCertificateOptions,
} from './certificate-authority.ts'
export type { ServiceFault, ServiceFaults } from './fake-fetch.ts'
export { createFakeFrontProxy, type FakeFrontProxy } from './fake-front-proxy.ts'
export {
  createFakeOidcProvider,
  type FakeOidcProvider,
  type FakeOidcProviderOptions,
  type FakeTokenOptions,
} from './fake-oidc-provider.ts'
export { createFakeTokenWebhook, type FakeTokenWebhook, type KnownToken } from './fake-token-webhook.ts'
export { type ForgedToken, forgeToken } from './forged-token.ts'
