export * from '@krmkit/controllers/framework'
