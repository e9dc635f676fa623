/** A KMS plugin for tests, behind a Unix socket. It derives its keys from their names. */
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import * as grpc from '@grpc/grpc-js'
import type { MessageType } from '@krmkit/base/protobuf'
import {
  type Annotation,
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
} from '../messages.ts'

const annotations: readonly Annotation[] = [{ key: 'fake.kms.example.com', value: Buffer.from('1') }]

export class FakeKms {
  readonly endpoint: string
  /** The key that encrypts. */
  keyId = 'key-1'
  healthz = 'ok'
  /** gRPC status that calls fail with. */
  failure: number | undefined
  readonly calls = { Status: 0, Encrypt: 0, Decrypt: 0 }
  readonly #path: string
  #server: grpc.Server | undefined

  /** @param path of the socket */
  constructor(path: string) {
    this.#path = path
    this.endpoint = `unix://${path}`
  }

  async start(): Promise<void> {
    const server = new grpc.Server()
    server.addService(definition, {
      Status: this.#handler<object, KmsStatus>('Status', () => ({ version: 'v2', healthz: this.healthz, keyId: this.keyId })),
      Encrypt: this.#handler<EncryptRequest, EncryptResponse>('Encrypt', ({ plaintext }) => {
        const cipher = createCipheriv('aes-256-gcm', secretOf(this.keyId), nonce)
        const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
        return { ciphertext, keyId: this.keyId, annotations }
      }),
      Decrypt: this.#handler<DecryptRequest, DecryptResponse>('Decrypt', ({ ciphertext, keyId, annotations: given }) => {
        if (given.length !== 1) throw new Error('the annotations are missing')
        const end = ciphertext.length - 16
        const cipher = createDecipheriv('aes-256-gcm', secretOf(keyId), nonce).setAuthTag(ciphertext.subarray(end))
        return { plaintext: Buffer.concat([cipher.update(ciphertext.subarray(0, end)), cipher.final()]) }
      }),
    })
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(this.endpoint, grpc.ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      )
    })
    this.#server = server
  }

  stop(): void {
    this.#server?.forceShutdown()
    this.#server = undefined
    rmSync(this.#path, { force: true })
  }

  #handler<Request, Response>(name: keyof FakeKms['calls'], answer: (request: Request) => Response) {
    return (call: grpc.ServerUnaryCall<Request, Response>, respond: grpc.sendUnaryData<Response>): void => {
      this.calls[name]++
      if (this.failure !== undefined) {
        respond({ code: this.failure, details: 'as the test wants' })
        return
      }
      try {
        respond(null, answer(call.request))
      } catch (error) {
        respond({ code: grpc.status.INVALID_ARGUMENT, details: String(error) })
      }
    }
  }
}

/** A constant nonce, which is safe because every plaintext is a new random seed. */
const nonce = Buffer.alloc(12, 1)

function secretOf(keyId: string): Buffer {
  return createHash('sha256').update(keyId).digest()
}

function method<Request extends object, Response extends object>(
  name: string,
  request: MessageType<Request>,
  response: MessageType<Response>,
): grpc.MethodDefinition<Request, Response> {
  return {
    path: `/v2.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (value) => request.encode(value),
    requestDeserialize: (bytes) => request.decode(bytes),
    responseSerialize: (value) => response.encode(value),
    responseDeserialize: (bytes) => response.decode(bytes),
  }
}

const definition = {
  Status: method('Status', statusRequest, statusResponse),
  Encrypt: method('Encrypt', encryptRequest, encryptResponse),
  Decrypt: method('Decrypt', decryptRequest, decryptResponse),
} as const
