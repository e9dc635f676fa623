export * from '@krmkit/meta/api-version'
