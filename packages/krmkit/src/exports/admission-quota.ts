export * from '@krmkit/admission/quota'
