export { revisionForm } from './revision-form.ts'
export { createStoredForm, type StoredFormOptions } from './stored-form.ts'
