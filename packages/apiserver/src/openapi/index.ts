export { createOpenApi, type OpenApi, type OpenApiOptions, type OpenApiRequest } from './openapi.ts'
export type { CustomForm } from './published.ts'
export { noRemoteDocuments, type RemoteDocument, type RemoteDocuments, remoteDocument } from './remote-documents.ts'
