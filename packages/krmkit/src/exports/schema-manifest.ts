export * from '@krmkit/schema/manifest'
