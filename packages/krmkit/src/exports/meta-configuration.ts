export * from '@krmkit/meta/configuration'
