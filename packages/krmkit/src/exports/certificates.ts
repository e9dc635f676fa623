export * from '@krmkit/certificates'
