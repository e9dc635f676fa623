export * from '@krmkit/meta/quantity'
