export * from '@krmkit/schema/openapi'
