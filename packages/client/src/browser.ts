/**
 * Browser entry point of the package: everything that runs in every runtime. Kubeconfig files, proxies and credential
 * commands need Node and are not exported.
 */

export { createClient } from './client.ts'
export { ClientError, type ClientErrorCode } from './client-error.ts'
export type { ClientOptions } from './client-options.ts'
export type { CredentialSource, Credentials } from './credentials/credential-source.ts'
export { createFetchTransport, type FetchTransportOptions } from './fetch-transport.ts'
export { createInProcessClient, createInProcessTransport, type InProcessOptions } from './in-process.ts'
export type { IndexFunction } from './indexer.ts'
export { createInformer, type Informer, type InformerHandlers, type InformerOptions } from './informer.ts'
export type {
  Applied,
  ApplyOptions,
  CallOptions,
  Client,
  DefinedResource,
  DeleteCollectionOptions,
  DeleteOptions,
  Draft,
  GetOptions,
  JsonPatchOperation,
  ListOptions,
  ObjectList,
  ObjectOptions,
  PatchOptions,
  RawRequest,
  RawResponse,
  ResourceRef,
  ResourceType,
  SelectOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './interfaces.ts'
export { migrateStorage, type StorageMigration } from './migrate-storage.ts'
export type { KindTypes, ProtobufCodecOptions } from './protobuf-codec.ts'
export { apiVersionOf, resourceType, subresourceType, typeOf } from './resource.ts'
