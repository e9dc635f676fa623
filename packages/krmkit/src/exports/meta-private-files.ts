export * from '@krmkit/meta/private-files'
