export * from '@krmkit/admission'
