export * from '@krmkit/versioning'
