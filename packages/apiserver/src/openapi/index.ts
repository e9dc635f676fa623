export { createOpenApi, type OpenApi, type OpenApiOptions, type OpenApiRequest } from './openapi.ts'
export type { CustomForm } from './published.ts'
