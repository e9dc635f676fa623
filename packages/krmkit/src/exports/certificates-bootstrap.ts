export * from '@krmkit/certificates/bootstrap'
