export * from '@krmkit/schema/json'
