export * from '@krmkit/storage/encryption'
