/** A KMS plugin behind a Unix socket. */
import { randomUUID } from 'node:crypto'
import { Endpoints, type RpcMethod } from '@krmkit/grpc'
import {
  type DecryptRequest,
  type DecryptResponse,
  decryptRequest,
  decryptResponse,
  type EncryptRequest,
  type EncryptResponse,
  encryptRequest,
  encryptResponse,
  type KmsStatus,
  statusRequest,
  statusResponse,
} from './messages.ts'

/** The calls of a plugin. @throws RpcError from each */
export interface KmsService {
  status(): Promise<KmsStatus>
  encrypt(plaintext: Uint8Array): Promise<EncryptResponse>
  decrypt(request: Omit<DecryptRequest, 'uid'>): Promise<Uint8Array>
  close(): void
}

const service = '/v2.KeyManagementService'
const status: RpcMethod<object, KmsStatus> = { path: `${service}/Status`, request: statusRequest, response: statusResponse }
const encrypt: RpcMethod<EncryptRequest, EncryptResponse> = {
  path: `${service}/Encrypt`,
  request: encryptRequest,
  response: encryptResponse,
}
const decrypt: RpcMethod<DecryptRequest, DecryptResponse> = {
  path: `${service}/Decrypt`,
  request: decryptRequest,
  response: decryptResponse,
}

/** @param endpoint `unix:///path` @param timeoutMs timeout of a call, in milliseconds */
export function connectKms(endpoint: string, timeoutMs: number): KmsService {
  const endpoints = new Endpoints([endpoint], { what: `KMS plugin at ${endpoint}` })
  const options = { timeoutMs }
  return {
    status: () => endpoints.call(status, {}, options),
    encrypt: (plaintext) => endpoints.call(encrypt, { plaintext, uid: randomUUID() }, options),
    decrypt: async (request) => (await endpoints.call(decrypt, { ...request, uid: randomUUID() }, options)).plaintext,
    close: () => endpoints.close(),
  }
}
