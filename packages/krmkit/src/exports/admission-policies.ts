export * from '@krmkit/admission/policies'
