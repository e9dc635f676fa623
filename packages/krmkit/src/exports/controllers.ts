export * from '@krmkit/controllers'
