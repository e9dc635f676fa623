export { createStoredForm, type StoredFormOptions } from './stored-form.ts'
