export * from '@krmkit/registry/stored-form'
