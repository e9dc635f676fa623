export * from '@krmkit/schema/decode'
