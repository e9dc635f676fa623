export * from '@krmkit/schema/yaml'
