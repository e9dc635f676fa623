export * from '@krmkit/schema/zod'
