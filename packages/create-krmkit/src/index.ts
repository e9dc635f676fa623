export { CreateError, type CreateErrorCode } from './create-error.ts'
export { type CreatedProject, type CreateProjectOptions, createProject } from './create-project.ts'
export { type Template, type TemplateName, templates } from './templates.ts'
