export * from '@krmkit/registry'
