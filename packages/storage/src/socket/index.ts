export type { RevisionForm } from './revision-form.ts'
export { type ServedStorage, type ServeStorageOptions, serveStorage } from './serve-storage.ts'
export { type SocketStorageOptions, socketStorage } from './socket-storage.ts'
