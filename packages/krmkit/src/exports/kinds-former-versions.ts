export * from '@krmkit/kinds/former-versions'
