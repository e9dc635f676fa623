export { acceptConnections } from './accept.ts'
export * from './browser.ts'
export { type ForwardedConnection, forwardTo } from './forward-to.ts'
export { HttpError, type HttpErrorCode } from './http-error.ts'
export type {
  Listener,
  ListenLimits,
  ListenOptions,
  PassedConnections,
  TlsFiles,
  TlsSelfSigned,
} from './interfaces.ts'
export { listen } from './listen.ts'
export { defaultListenLimits } from './listen-options.ts'
export { createProxyTransport } from './proxy-transport.ts'
export { selfSigned } from './self-signed.ts'
export { createWebhookTransport } from './webhook-transport.ts'
