export { createZodSchemas, type ZodSchemaOptions, type ZodSchemas, zodSchema } from './zod-schema.ts'
