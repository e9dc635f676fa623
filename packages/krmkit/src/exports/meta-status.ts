export * from '@krmkit/meta/status'
