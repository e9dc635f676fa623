export { createOpenApi, type OpenApi, type OpenApiOptions, type OpenApiRequest } from './openapi.ts'
export type { CustomForm } from './published.ts'
export {
  type ConvertedDocument,
  noRemoteDocuments,
  type RemoteDocument,
  type RemoteDocuments,
  type RemoteSource,
  remoteDocument,
} from './remote-documents.ts'
