export * from '@krmkit/certificates/request'
