export * from '@krmkit/schema/model'
