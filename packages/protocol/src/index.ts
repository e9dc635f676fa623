export type {
  ApiBody,
  ApiRequest,
  ApiResponse,
  BodyPiece,
  DecisionCallback,
  Handler,
  Peer,
  ReadyChunks,
  RequestUser,
  SharedEvent,
} from './interfaces.ts'
export type {
  ProxiedRequest,
  ProxyConnection,
  ProxyTarget,
  ProxyTransport,
  ServiceAddress,
  WebhookRequest,
  WebhookResponse,
  WebhookSender,
  WebhookTarget,
  WebhookTransport,
} from './outbound.ts'
export type { Transport, TransportRequest, TransportResponse } from './transport.ts'
