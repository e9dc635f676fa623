export * from '@krmkit/authentication'
