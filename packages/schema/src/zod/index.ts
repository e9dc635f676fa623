export { createZodSchema as zodSchema, createZodSchemas, type ZodSchemaOptions, type ZodSchemas } from './zod-schema.ts'
