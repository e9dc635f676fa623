export { createZodSchema, createZodSchemas, type ZodSchemaOptions, type ZodSchemas } from './zod-schema.ts'
