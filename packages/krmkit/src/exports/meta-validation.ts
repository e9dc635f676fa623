export * from '@krmkit/meta/validation'
