export * from '@krmkit/meta/pem'
